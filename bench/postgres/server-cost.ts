import { readdirSync, readFileSync } from 'node:fs';

// Linux counts the time of processes in hundredths of a second.
const TICK_MS = 10;
const UTIME = 13;
const PARENT = 3;

/** CPU time of a PostgreSQL so far, ms: its postmaster, all it has started, and all of those that have ended. */
export function serverCpuMs(postmaster: number): number {
  const own = statOf(postmaster);
  if (own === null) throw new Error(`There is no process ${postmaster}`);
  // cutime and cstime are those of children that have ended.
  let ticks = sum(own, [UTIME, UTIME + 1, UTIME + 2, UTIME + 3]);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(Number(name));
    if (stat !== null && Number(stat[PARENT]) === postmaster) ticks += sum(stat, [UTIME, UTIME + 1]);
  }
  return ticks * TICK_MS;
}

/** CPU time of a process so far, all its threads', ms; 0 when it has ended. */
export function processCpuMs(pid: number): number {
  const stat = statOf(pid);
  return stat === null ? 0 : sum(stat, [UTIME, UTIME + 1]) * TICK_MS;
}

function sum(stat: readonly string[], fields: readonly number[]): number {
  return fields.reduce((total, field) => total + Number(stat[field]), 0);
}

/** @returns the fields of /proc/PID/stat; null when the process has ended */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold spaces.
    const end = text.lastIndexOf(')');
    return [String(pid), 'name', ...text.slice(end + 2).split(' ')];
  } catch {
    return null;
  }
}
