/**
 * The programs that speak SRT, and how each is told to pass a stream on: from a UDP port to SRT, or
 * from SRT to a file.
 *
 * @module
 */

import type { Peer } from "./peer.ts";
import type { Stage } from "./stage.ts";

/** A program that speaks SRT. */
export type Speaker = "lockstep" | "srt-live-transmit" | "ffmpeg";

/** The SRT side of a program. */
export interface Connection {
  /** Without its latency: the programs differ in its unit. */
  readonly uri: string;
  readonly latencyMs: number;
}

/** Starts the sender: a UDP port to SRT. */
export async function startSender(
  stage: Stage,
  name: string,
  speaker: Speaker,
  port: number,
  { uri, latencyMs }: Connection,
): Promise<Peer> {
  const input = `udp://127.0.0.1:${port}`;
  switch (speaker) {
    case "lockstep":
      return await stage.route(name, input, `${uri}&latency=${latencyMs}`);
    case "srt-live-transmit": // with the system's socket buffer it loses packets by itself
      return stage.start(name, speaker, [
        "-q",
        `${input}?rcvbuf=4000000`,
        `${uri}&latency=${latencyMs}`,
      ]);
    case "ffmpeg":
      return stage.start(
        name,
        speaker,
        copyingArguments(
          `${input}?buffer_size=4000000`,
          `${uri}&latency=${1000 * latencyMs}&pkt_size=1316`,
        ),
      );
  }
}

/** Starts the receiver: SRT to a file. */
export async function startReceiver(
  stage: Stage,
  name: string,
  speaker: Speaker,
  { uri, latencyMs }: Connection,
  path: string,
): Promise<Peer> {
  switch (speaker) {
    case "lockstep":
      return await stage.route(name, `${uri}&latency=${latencyMs}`, path);
    case "srt-live-transmit":
      return stage.start(
        name,
        speaker,
        ["-q", `${uri}&latency=${latencyMs}`, "file://con"],
        { stdoutPath: path },
      );
    case "ffmpeg":
      return stage.start(
        name,
        speaker,
        copyingArguments(`${uri}&latency=${1000 * latencyMs}`, path),
      );
  }
}

/** ffmpeg passes bytes on as they are; its latencies are in microseconds. */
function copyingArguments(input: string, output: string): string[] {
  const quiet = ["-nostdin", "-nostats", "-v", "warning"];
  const from = ["-f", "data", "-raw_packet_size", "1316", "-i", input];
  return [...quiet, ...from, "-map", "0", "-c", "copy", "-f", "data", output];
}
