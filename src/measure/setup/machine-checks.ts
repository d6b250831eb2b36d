import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { MIB } from '../../core/units.ts';
import { ok, problem, type SetupCheck, warning } from './check.ts';

const LEAST_NODE = 24;
const LEAST_FILES = 1_024;
const LEAST_MEMORY_MIB = 256;
// This was written then: a clock that says earlier is wrong, and certificates would not verify.
const LEAST_WALL_MS = Date.UTC(2026, 0, 1);

/** @param version as `process.version` has it: "v24.1.0" */
export function checkNode(version: string): SetupCheck {
  const major = Number(/^v(\d+)\./.exec(version)?.[1] ?? 0);
  if (major >= LEAST_NODE) return ok('Node', version);
  return problem('Node', `${version}: millrace needs Node ${LEAST_NODE} or newer.`);
}

/** @param limits the text of /proc/self/limits; null where there is none */
export function checkFileLimit(limits: string | null): SetupCheck {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits ?? '')?.[1];
  if (soft === undefined) return ok('Open files', 'This system does not tell its limit.');
  if (soft === 'unlimited') return ok('Open files', 'no limit');
  if (Number(soft) >= LEAST_FILES) return ok('Open files', `${soft} at once`);
  return warning(
    'Open files',
    `Only ${soft} at once, connections included: raise it (ulimit -n ${LEAST_FILES}), or keep maxConcurrency below ${Math.floor(Number(soft) / 2)}.`,
  );
}

/** @param availableBytes what the process may still use, limits of its container included */
export function checkMemory(availableBytes: number): SetupCheck {
  const mib = Math.floor(availableBytes / MIB);
  const text = `${mib} MiB to use, ${availableParallelism()} cores`;
  return mib >= LEAST_MEMORY_MIB
    ? ok('Memory', text)
    : warning('Memory', `${text}: a crawl wants ${LEAST_MEMORY_MIB} MiB.`);
}

/** @param wallMs epoch ms */
export function checkClock(wallMs: number): SetupCheck {
  const text = new Date(wallMs).toISOString();
  if (wallMs < LEAST_WALL_MS) return problem('Clock', `${text}: it is wrong, so certificates will not verify.`);
  return ok('Clock', `${text} (probe URL compares it with a server's)`);
}

/** @returns the text of /proc/self/limits; null where there is none */
export async function readLimits(): Promise<string | null> {
  return readFile('/proc/self/limits', 'utf8').catch(() => null);
}
