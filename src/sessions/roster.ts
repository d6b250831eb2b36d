import type { Health, Moment, SavedHealth } from './health.ts';

/** Something of which a host may have several, each of which can rest: a credential or a proxy. */
export type Member = {
  /** Without secrets: for logs, keys and the store. */
  readonly name: string;
  readonly health: Health;
};

/** The credentials, or the proxies, that take turns. */
export class Roster<T extends Member> {
  readonly members: readonly T[];
  #next = 0;

  constructor(members: readonly T[]) {
    this.members = members;
  }

  get size(): number {
    return this.members.length;
  }

  get(name: string | null): T | null {
    return this.members.find((member) => member.name === name) ?? null;
  }

  /** @returns the next one in turn that may be used, or the next one when none may; null when there is none at all */
  pick(nowMs: number): T | null {
    const { members } = this;
    for (let step = 0; step < members.length; step++) {
      const member = this.#step();
      if (member.health.canUse(nowMs)) return member;
    }
    return members.length === 0 ? null : this.#step();
  }

  /** When the first of them may be used; not later than now when one may, or when there is none to wait for. */
  readyAtMs(nowMs: number): number {
    if (this.members.length === 0) return nowMs;
    return Math.min(...this.members.map(({ health }) => (health.canUse(nowMs) ? nowMs : health.readyAtMs)));
  }

  /**
   * Whether another one can step in for one that was refused. When all others rest, those that failed once are called
   * back: the resource may be what is forbidden, and not they.
   */
  hasSubstituteFor(refused: T, nowMs: number): boolean {
    const others = this.members.filter((member) => member !== refused);
    if (others.some(({ health }) => health.canUse(nowMs))) return true;
    return callBackFirstOffenders(others) > 0;
  }

  /** Ends the rest of all that failed only once. */
  callBackFirstOffenders(): void {
    callBackFirstOffenders(this.members);
  }

  save(moment: Moment): Record<string, SavedHealth> {
    const saved: Record<string, SavedHealth> = {};
    for (const { name, health } of this.members) {
      const state = health.save(moment);
      if (state !== null) saved[name] = state;
    }
    return saved;
  }

  load(saved: Record<string, SavedHealth>, moment: Moment): void {
    for (const { name, health } of this.members) {
      const state = saved[name];
      if (state !== undefined) health.load(state, moment);
    }
  }

  #step(): T {
    const member = this.members[this.#next % this.members.length] as T;
    this.#next = (this.#next + 1) % this.members.length;
    return member;
  }
}

function callBackFirstOffenders(members: readonly Member[]): number {
  const offenders = members.filter(({ health }) => health.failures === 1);
  for (const { health } of offenders) health.heal();
  return offenders.length;
}
