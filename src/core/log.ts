/** Facts that go with a log line: short, JSON-safe, no secrets. */
export type LogFacts = Record<string, unknown>;

/** The log, as handed down. Levels as in pino; a line is a plain sentence, details are facts. */
export interface Log {
  debug(message: string, facts?: LogFacts): void;
  info(message: string, facts?: LogFacts): void;
  warn(message: string, facts?: LogFacts): void;
  error(message: string, facts?: LogFacts): void;
}

/** A log that says nothing: for library users and tests that do not look at it. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
