/**
 * Where one request's time went, in ms; a phase that did not happen is 0.
 * politeness = held back by the governor; queue = ready but waiting for a slot; firstByte = request sent to
 * first byte of the response; commit = waiting for the transaction.
 */
export type Timings = {
  politeness: number;
  queue: number;
  dns: number;
  connect: number;
  tls: number;
  firstByte: number;
  download: number;
  parse: number;
  handler: number;
  commit: number;
};

/** The phases in the order they happen. */
export const PHASES = [
  'politeness',
  'queue',
  'dns',
  'connect',
  'tls',
  'firstByte',
  'download',
  'parse',
  'handler',
  'commit',
] as const satisfies readonly (keyof Timings)[];

/** @returns a fresh record with every phase 0. */
export function noTime(): Timings {
  return {
    politeness: 0,
    queue: 0,
    dns: 0,
    connect: 0,
    tls: 0,
    firstByte: 0,
    download: 0,
    parse: 0,
    handler: 0,
    commit: 0,
  };
}
