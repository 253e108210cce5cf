import assert from "node:assert/strict";
import * as log from "./log.ts";

/** Keeps what it gets. */
class Memory implements log.Handler {
  readonly records: log.LogRecord[] = [];
  constructor(readonly levelName: log.LevelName) {}
  log(record: log.LogRecord): void {
    this.records.push(record);
  }
}

function logAll(logger: Pick<log.Logger, "debug" | "info" | "warn" | "error" | "critical">): void {
  logger.debug("d");
  logger.info("i");
  logger.warn("w");
  logger.error("e");
  logger.critical("c");
}

Deno.test("a record carries what was said, when, by whom and how grave it is", () => {
  const memory = new Memory("DEBUG");
  log.setup({
    handlers: { memory },
    loggers: { default: { level: "DEBUG", handlers: ["memory"] } },
  });
  const before = Date.now();
  log.getLogger("flow").warn("link {1} broke", { link: 1 }, 2);
  const record = memory.records[0];
  assert.equal(memory.records.length, 1);
  assert.equal(record?.msg, "link {1} broke");
  assert.deepEqual(record.args, [{ link: 1 }, 2]);
  assert.equal(record.levelName, "WARN");
  assert.equal(record.loggerName, "flow");
  assert.ok(record.datetime.getTime() >= before && record.datetime.getTime() <= Date.now());
});

Deno.test("logger and handler each pass on from their level", () => {
  const [all, grave] = [new Memory("DEBUG"), new Memory("ERROR")];
  log.setup({
    handlers: { all, grave },
    loggers: { default: { level: "INFO", handlers: ["all", "grave"] } },
  });
  logAll(log);
  assert.deepEqual(all.records.map((one) => one.levelName), ["INFO", "WARN", "ERROR", "CRITICAL"]);
  assert.deepEqual(grave.records.map((one) => one.msg), ["e", "c"]);
});

Deno.test("a named logger has its own level and handlers, others those of the default", () => {
  const [own, others] = [new Memory("DEBUG"), new Memory("DEBUG")];
  log.setup({
    handlers: { own, others },
    loggers: {
      default: { level: "ERROR", handlers: ["others"] },
      verbose: { level: "DEBUG", handlers: ["own"] },
    },
  });
  logAll(log.getLogger("verbose"));
  logAll(log.getLogger("unnamed"));
  assert.deepEqual(own.records.map((one) => one.msg), ["d", "i", "w", "e", "c"]);
  assert.deepEqual(others.records.map((one) => one.msg), ["e", "c"]);
});

Deno.test("a logger made before the set-up follows it", () => {
  const logger = log.getLogger("early");
  const memory = new Memory("DEBUG");
  log.setup({
    handlers: { memory },
    loggers: { default: { level: "INFO", handlers: ["memory"] } },
  });
  logger.info("late");
  assert.deepEqual(memory.records.map((one) => one.msg), ["late"]);
});

Deno.test("the console handler writes one formatted line to standard error", () => {
  const [out, err] = [[], []] as [unknown[], unknown[]];
  const { log: realLog, error: realError } = console;
  console.log = (...words: unknown[]) => out.push(...words);
  console.error = (...words: unknown[]) => err.push(...words);
  try {
    log.setup({
      handlers: {
        plain: new log.ConsoleHandler("INFO"),
        own: new log.ConsoleHandler("INFO", { formatter: (record) => `${record.msg}!` }),
      },
      loggers: { default: { level: "INFO", handlers: ["plain", "own"] } },
    });
    log.info("on air");
  } finally {
    console.log = realLog;
    console.error = realError;
  }
  assert.deepEqual(err, ["INFO on air", "on air!"]);
  assert.deepEqual(out, []);
});
