import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Platform } from './platform.ts';

export type Status = { text: string; isTerminal?: boolean; isError?: boolean };

/** Sets the run's status message. Nobody loses anything by one that does not arrive. */
export async function tellStatus(
  platform: Pick<Platform, 'setStatus'>,
  log: Log,
  { text, ...options }: Status,
): Promise<void> {
  await platform.setStatus(text, options).catch((error: unknown) => {
    log.warn(`The status message could not be set: ${messageOf(error)}`);
  });
}
