/**
 * Logging with the shape of Deno's `@std/log`, over LogTape: named loggers, levels, handlers with
 * a formatter, and `debug` to `critical` for the logger "default". It is the part of it that this
 * project uses. The console handler writes to standard error, because standard output carries only
 * what a verb prints.
 *
 * @module
 */

import * as logtape from "@logtape/logtape";

const levels = {
  DEBUG: "debug",
  INFO: "info",
  WARN: "warning",
  ERROR: "error",
  CRITICAL: "fatal",
} as const satisfies Record<string, logtape.LogLevel>;

/** How grave a record is, and the least grave one that a logger or handler passes on. */
export type LevelName = keyof typeof levels;

/** One message, as a formatter gets it. */
export interface LogRecord {
  readonly msg: string;
  readonly args: readonly unknown[];
  readonly datetime: Date;
  readonly levelName: LevelName;
  readonly loggerName: string;
}

/** Where records go. */
export interface Handler {
  readonly levelName: LevelName;
  log(record: LogRecord): void;
}

/** What is logged, and where it goes. */
export interface LogConfig {
  readonly handlers: Readonly<Record<string, Handler>>;
  /** The logger "default" also takes the records of loggers that are not named here. */
  readonly loggers: Readonly<
    Record<string, { readonly level: LevelName; readonly handlers: readonly string[] }>
  >;
}

/** Writes records to standard error, one line each: level and message, unless told otherwise. */
export class ConsoleHandler implements Handler {
  readonly levelName: LevelName;
  readonly #formatter: (record: LogRecord) => string;

  constructor(
    levelName: LevelName,
    options: { readonly formatter?: (record: LogRecord) => string } = {},
  ) {
    this.levelName = levelName;
    this.#formatter = options.formatter ?? ((record) => `${record.levelName} ${record.msg}`);
  }

  log(record: LogRecord): void {
    console.error(this.#formatter(record));
  }
}

/** Takes messages under one name. */
export class Logger {
  readonly #logger: logtape.Logger;

  constructor(readonly loggerName: string) {
    this.#logger = logtape.getLogger([root, loggerName]);
  }

  #log(level: LevelName, msg: string, args: readonly unknown[]): void {
    // The message is a property, so that braces in it are no placeholders of LogTape's.
    this.#logger[levels[level]]("{msg}", { msg, args });
  }

  /** Logs what only a developer wants to know. */
  debug(msg: string, ...args: unknown[]): void {
    this.#log("DEBUG", msg, args);
  }

  /** Logs what happens in order. */
  info(msg: string, ...args: unknown[]): void {
    this.#log("INFO", msg, args);
  }

  /** Logs what somebody should look at. */
  warn(msg: string, ...args: unknown[]): void {
    this.#log("WARN", msg, args);
  }

  /** Logs what failed. */
  error(msg: string, ...args: unknown[]): void {
    this.#log("ERROR", msg, args);
  }

  /** Logs what ends the program. */
  critical(msg: string, ...args: unknown[]): void {
    this.#log("CRITICAL", msg, args);
  }
}

const root = "lockstep";

function sink(handler: Handler): logtape.Sink {
  return logtape.withFilter((record) => {
    const level = Object.entries(levels).find(([, theirs]) => theirs === record.level);
    handler.log({
      msg: String(record.properties["msg"]),
      args: record.properties["args"] as readonly unknown[],
      datetime: new Date(record.timestamp),
      levelName: (level?.[0] ?? "DEBUG") as LevelName,
      loggerName: record.category.at(-1) ?? "default",
    });
  }, levels[handler.levelName]);
}

/** Says what is logged from now on, and where it goes. */
export function setup(config: LogConfig): void {
  const sinks: Record<string, logtape.Sink> = { meta: logtape.getConsoleSink() };
  for (const [name, handler] of Object.entries(config.handlers)) {
    sinks[`handler ${name}`] = sink(handler);
  }
  const loggers = Object.entries(config.loggers).map(([name, logger]) => ({
    category: name === "default" ? [root] : [root, name],
    lowestLevel: levels[logger.level],
    sinks: logger.handlers.map((handler) => `handler ${handler}`),
    parentSinks: "override" as const,
  }));
  // What LogTape itself has to say: a handler that throws.
  loggers.push({
    category: ["logtape", "meta"],
    lowestLevel: "warning",
    sinks: ["meta"],
    parentSinks: "override",
  });
  logtape.configureSync({ sinks, loggers, reset: true });
}

/** The logger of a name; the same messages go where `setup` says, before or after it. */
export function getLogger(name = "default"): Logger {
  return new Logger(name);
}

const standard = getLogger();

/** `debug` of the logger "default". */
export const debug: Logger["debug"] = standard.debug.bind(standard);
/** `info` of the logger "default". */
export const info: Logger["info"] = standard.info.bind(standard);
/** `warn` of the logger "default". */
export const warn: Logger["warn"] = standard.warn.bind(standard);
/** `error` of the logger "default". */
export const error: Logger["error"] = standard.error.bind(standard);
/** `critical` of the logger "default". */
export const critical: Logger["critical"] = standard.critical.bind(standard);

setup({
  handlers: { default: new ConsoleHandler("INFO") },
  loggers: { default: { level: "INFO", handlers: ["default"] } },
});
