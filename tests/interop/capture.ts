/**
 * What is on the wire, captured by dumpcap and dissected by tshark.
 *
 * @module
 */

import type { Peer } from "./peer.ts";
import type { Stage } from "./stage.ts";

/** Names of the control types by number (draft-sharabayko-srt §3.2, table 4). */
const controlTypes: Readonly<Record<number, string>> = {
  0: "HANDSHAKE",
  1: "KEEPALIVE",
  2: "ACK",
  3: "NAK",
  4: "CGWARNING",
  5: "SHUTDOWN",
  6: "ACKACK",
  7: "DROPREQ",
};

/** Expert information from here on says that something is wrong; below, it only explains. */
const severityWarning = 0x600000;

/** An SRT packet as tshark sees it. */
export interface Dissected {
  readonly frame: number;
  readonly fromPort: number;
  readonly toPort: number;
  /** `DATA` or the control type. */
  readonly type: string;
  /** What the dissector objects to, empty when nothing. */
  readonly objections: string;
  /** Of a handshake: version, request, the flags of an HSREQ or HSRSP, latencies, stream ID. */
  readonly handshake: string;
  /** Of a NAK: how many entries its loss list has. */
  readonly losses: number;
}

const handshakeFields = [
  "srt.hs.version",
  "srt.hs.extfield",
  "srt.hs.reqtype",
  "srt.hs.blocktype",
  "srt.hs.srtflags",
  "srt.hs.agent_latency",
  "srt.hs.peer_latency",
  "srt.hs.sid",
];

const fields = [
  "frame.number",
  "udp.srcport",
  "udp.dstport",
  "srt.iscontrol",
  "srt.type",
  "_ws.malformed",
  "_ws.expert.severity",
  "_ws.expert.message",
  "srt.nak_seqno",
  ...handshakeFields,
];

/** A running capture of SRT on some ports of the loopback interface. */
export class Capture {
  readonly #dumpcap: Peer;
  readonly #path: string;
  readonly #ports: readonly number[];
  readonly #stage: Stage;

  private constructor(stage: Stage, dumpcap: Peer, path: string, ports: readonly number[]) {
    this.#stage = stage;
    this.#dumpcap = dumpcap;
    this.#path = path;
    this.#ports = ports;
  }

  /** Starts it and waits until it sees packets. */
  static async start(stage: Stage, ports: readonly number[]): Promise<Capture> {
    const path = stage.path("capture.pcapng");
    const filter = ports.map((port) => `udp port ${port}`).join(" or ");
    const dumpcap = stage.start("dumpcap", "dumpcap", ["-i", "lo", "-f", filter, "-w", path]);
    await dumpcap.until("capturing", () => dumpcap.stderr.includes("File: "));
    return new Capture(stage, dumpcap, path, ports);
  }

  /** Ends it and dissects what it saw. */
  async finish(): Promise<Dissected[]> {
    await this.#dumpcap.interrupt();
    const decodeAs = this.#ports.flatMap((port) => ["-d", `udp.port==${port},srt`]);
    const wanted = fields.flatMap((field) => ["-e", field]);
    const args = ["-r", this.#path, ...decodeAs, "-T", "fields", ...wanted];
    const text = this.#stage.path("dissected.txt");
    const tshark = this.#stage.start("tshark", "tshark", args, { stdoutPath: text });
    const { success } = await tshark.end(30_000);
    if (!success) throw new Error("tshark failed");
    const lines = (await Deno.readTextFile(text)).split("\n").filter((line) => line !== "");
    return lines.map(dissected);
  }
}

function dissected(line: string): Dissected {
  const [frame, from, to, control, type, malformed = "", severities = "", messages = "", ...rest] =
    line.split("\t");
  const [losses = "", ...handshake] = rest;
  const grave = severities.split(",").some((severity) => Number(severity) >= severityWarning);
  return {
    frame: Number(frame),
    fromPort: Number(from),
    toPort: Number(to),
    type: nameOf(control, type),
    objections: malformed !== "" || grave ? `${malformed} ${messages}`.trim() || "malformed" : "",
    handshake: handshake.join(" ").trim(),
    losses: losses === "" ? 0 : losses.split(",").length,
  };
}

function nameOf(control: string | undefined, type: string | undefined): string {
  switch (control) {
    case "0":
    case "False":
      return "DATA";
    case "1":
    case "True":
      return controlTypes[Number(type)] ?? `control type ${type}`;
    default:
      return "not SRT";
  }
}
