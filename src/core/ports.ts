import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Random } from './random.ts';

/** The outside world, handed down to every part that needs it. */
export type Ports = { clock: Clock; random: Random; log: Log };
