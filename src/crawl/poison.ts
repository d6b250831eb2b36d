import type { LeasedRequest, ValueStore } from '../storage/store.ts';

// Three crashes while it was watched: the first among others, two alone. A process that is killed from outside, five times
// in a row say, takes a different one down each time.
const WATCHED_CRASHES_OF_POISON = 3;
// Tries of a second each: a host that is parked for hours must not keep a suspect of another one for as long.
const MOST_DEFERRALS = 60;

/** `started`: in how many of its claims work on it began, since it was first lost; `claims`: the last of them. */
type Mark = { claims: number; started: number };

export type Suspicion = {
  /** Begins only after every other one that is to be alone. */
  mustBeAlone: boolean;
  isPoison: boolean;
};

/**
 * Whether a request that was handed out and lost, as happens when its process dies, was the cause. A process takes down
 * all it works on and all it has at hand: only what began counts against a request, and one that had begun when a
 * process died begins alone the next time, so that the next death tells who did it.
 * @param facts.startedBefore how often work on it had begun then; unknown for the first time
 */
export function suspicionOf(facts: { startedBefore: number }): Suspicion {
  return {
    mustBeAlone: facts.startedBefore > 0,
    isPoison: facts.startedBefore >= WATCHED_CRASHES_OF_POISON,
  };
}

/** @returns how often a request was handed out and lost: attempts that ended and were committed are not among them */
export function timesLost({ claims }: Pick<LeasedRequest, 'claims'>, completedAttempts: number): number {
  return claims - 1 - completedAttempts;
}

/** Marks lost requests before work on them begins. Costs nothing for those that never were. */
export class Suspects {
  readonly #values: ValueStore;
  #alone: Promise<void> = Promise.resolve();
  #atWork = 0;
  readonly #deferred = new Map<number, { started: number; times: number }>();

  constructor(values: ValueStore) {
    this.#values = values;
  }

  /**
   * Work on a lost request is to begin.
   * @param others requests at hand or being worked on, this one not among them
   * @returns to be called when it has ended; 'poison' or 'later' when nothing begins. Who must be alone goes after all
   *   others, and of several the least suspect goes first: a process that is killed from outside again and again,
   *   soon after it was started, takes a different one down each time, and each process gets something done
   */
  async begin(leased: LeasedRequest, others = 0): Promise<(() => void) | 'poison' | 'later'> {
    const key = markKeyOf(leased);
    const mark = (await this.#values.get<Mark>(key)) ?? { claims: 0, started: 0 };
    // Of the same claim: the server had asked for less, and it is sent once more.
    const startedBefore = mark.claims === leased.claims ? mark.started - 1 : mark.started;
    const { isPoison, mustBeAlone } = suspicionOf({ startedBefore });
    if (isPoison) return 'poison';
    if (mustBeAlone && this.#mustWait(leased, { startedBefore, others })) return 'later';
    const end = mustBeAlone ? await this.#whenAlone() : () => {};
    await this.#values.set(key, { claims: leased.claims, started: startedBefore + 1 } satisfies Mark);
    return end;
  }

  #mustWait({ lease }: LeasedRequest, { startedBefore, others }: { startedBefore: number; others: number }): boolean {
    const { requestId } = lease;
    const { times } = this.#deferred.get(requestId) ?? { times: 0 };
    const waiting = [...this.#deferred].filter(([id]) => id !== requestId);
    const isLess = waiting.some(([, { started }]) => started < startedBefore);
    // Those that wait as this one does are at hand, too: none would ever go if each waited for the others.
    const mustWait = times < MOST_DEFERRALS && (isLess || others - waiting.length > this.#atWork);
    if (mustWait) this.#deferred.set(requestId, { started: startedBefore, times: times + 1 });
    else this.#deferred.delete(requestId);
    return mustWait;
  }

  async #whenAlone(): Promise<() => void> {
    const others = this.#alone;
    let end = (): void => {};
    this.#atWork += 1;
    this.#alone = new Promise((resolve) => {
      end = () => {
        this.#atWork -= 1;
        resolve();
      };
    });
    await others;
    return end;
  }
}

/** Where a request's mark is kept among the run's values: deleted with its acknowledgement. */
export function markKeyOf({ lease }: Pick<LeasedRequest, 'lease'>): string {
  return `suspect:${lease.requestId}`;
}
