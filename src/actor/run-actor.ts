import type { Readable, Writable } from 'node:stream';
import type { CommandContext } from '../app-commands.ts';
import { messageOf, UsageError } from '../core/errors.ts';
import { createPrettyLog } from '../report/console-log.ts';
import { LiveArea, type TextStream } from '../report/terminal.ts';
import { ActorRun } from './actor-run.ts';
import { openApifyPlatform } from './apify-platform.ts';
import { tellStatus } from './tell-status.ts';

/** The process, as an Actor run sees it. */
export type ActorEdge = {
  ports: Omit<CommandContext['ports'], 'log'>;
  signal: AbortSignal;
  stdout: Writable;
  stdin: Readable;
  stderr: TextStream;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
};

/**
 * Runs the process as an Actor on Apify's platform: its input, its datasets, its events.
 * @returns the exit code: 0 makes the run SUCCEEDED, anything else FAILED
 * @throws what the crawl throws; the status message of the run says it, too
 */
export async function runActor(edge: ActorEdge): Promise<number> {
  const platform = await openApifyPlatform();
  const area = new LiveArea(edge.stderr);
  const log = createPrettyLog({ area, color: false, level: 'info', clock: edge.ports.clock });
  try {
    return await new ActorRun({ platform, edge, area, ports: { ...edge.ports, log } }).run();
  } catch (error) {
    const text = error instanceof UsageError ? error.problems.join(' ') : messageOf(error);
    await tellStatus(platform, log, { text, isTerminal: true, isError: true });
    throw error;
  } finally {
    await platform.close();
  }
}
