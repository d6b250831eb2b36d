import { readSignals, type Signals } from '../../governor/signals/read-signals.ts';
import type { HttpResponse } from '../../http/client.ts';

// Enough for any limit told in a body.
const BODY_EXCERPT_BYTES = 8 * 1024;

/** @returns all that an answer says of limits. @param wallMs when it came, epoch ms */
export function signalsOf({ status, headers, body }: HttpResponse, wallMs: number): Signals {
  const bodyText = status < 400 ? null : body.toString('utf8', 0, BODY_EXCERPT_BYTES);
  return readSignals({ status, headers, bodyText }, wallMs);
}
