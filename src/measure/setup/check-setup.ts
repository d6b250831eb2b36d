import type { Clock } from '../../core/clock.ts';
import { painter, type Style } from '../../report/terminal.ts';
import type { SetupCheck } from './check.ts';
import { checkClock, checkFileLimit, checkMemory, checkNode, readLimits } from './machine-checks.ts';
import { checkAuthorities, checkDatabase, checkDns, checkProxy } from './network-checks.ts';
import { checkStorage } from './storage-check.ts';

export type SetupOptions = {
  clock: Clock;
  env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  storageDir: string;
  /** null = none is given. */
  databaseUrl: string | null;
};

/** Looks at all that a crawl needs of its surroundings. Nothing is changed; the only network used is a DNS look-up. */
export async function checkSetup({ clock, env, storageDir, databaseUrl }: SetupOptions): Promise<SetupCheck[]> {
  return Promise.all([
    checkNode(process.version),
    checkStorage(storageDir),
    ...(databaseUrl === null ? [] : [checkDatabase(databaseUrl, clock)]),
    checkDns(clock),
    checkProxy(env),
    checkAuthorities(env),
    checkClock(clock.wallMs()),
    readLimits().then(checkFileLimit),
    checkMemory(process.availableMemory()),
  ]);
}

const MARKS: Record<SetupCheck['status'], { text: string; style: Style }> = {
  ok: { text: 'ok', style: 'green' },
  warning: { text: 'look', style: 'yellow' },
  problem: { text: 'FAIL', style: 'red' },
};

/** @returns the checks for people, without a newline at the end */
export function printSetup(checks: readonly SetupCheck[], { color }: { color: boolean }): string {
  const paint = painter(color);
  return checks
    .map(({ name, status, text }) => {
      const mark = MARKS[status];
      return `  ${paint(mark.style, mark.text.padEnd(6))}${name.padEnd(14)}${text}`;
    })
    .join('\n');
}
