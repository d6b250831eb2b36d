import type { LeasedRequest } from '../storage/store.ts';
import { boundSessionOf } from './bound-session.ts';
import { DueHeap } from './due-heap.ts';
import { Fifo } from './fifo.ts';
import { HostLine } from './host-line.ts';
import type { Gate, RobotsGate } from './ports.ts';

/** A request that may be sent now, with the time it was held back, in ms. */
export type Taken = { request: LeasedRequest; key: string; politenessMs: number; queueMs: number };

/** Asked for more than this in the future, more than 2 s of a host's work is never kept at hand. */
const APPETITE_HORIZON_MS = 2_000;
const LEAST_AT_HAND = 8;
/** A wait that ends so soon is not worth asking before. */
const SOON_MS = 20;

/**
 * Whose turn it is. Hosts with requests at hand take turns; one that must wait stands aside until its time and never
 * blocks another. So do, within a host, the sessions that requests are bound to. Decides only: it neither waits nor
 * touches the store.
 */
export class HostScheduler {
  readonly #gate: Gate;
  readonly #robots: RobotsGate;
  readonly #onSkip: (request: LeasedRequest, reason: string) => void;
  readonly #onGivenUp: (host: string, reason: string, left: LeasedRequest[]) => void;
  readonly #onExcess: (left: LeasedRequest[]) => void;
  readonly #onDeferred: (left: LeasedRequest[], untilMs: number) => void;
  readonly #wake: () => void;
  readonly #lines = new Map<string, HostLine>();
  /** Of hosts with requests that are bound to sessions, their lines by session. */
  readonly #bound = new Map<string, Map<string, HostLine>>();
  readonly #ready = new Fifo<HostLine>();
  readonly #timed = new DueHeap<HostLine>();
  #size = 0;
  #aside = 0;

  constructor(options: {
    gate: Gate;
    robots: RobotsGate;
    /** robots.txt forbids it. */
    onSkip: (request: LeasedRequest, rule: string) => void;
    onGivenUp: (host: string, reason: string, left: LeasedRequest[]) => void;
    /** More of a host that has to wait for long than should be kept at hand. */
    onExcess: (left: LeasedRequest[]) => void;
    /** The session these are bound to cannot send before this monotonic time; others of the host can. */
    onDeferred: (left: LeasedRequest[], untilMs: number) => void;
    /** Something may be ready now that was not before. */
    wake: () => void;
  }) {
    this.#gate = options.gate;
    this.#robots = options.robots;
    this.#onSkip = options.onSkip;
    this.#onGivenUp = options.onGivenUp;
    this.#onExcess = options.onExcess;
    this.#onDeferred = options.onDeferred;
    this.#wake = options.wake;
  }

  /** Requests at hand. */
  get size(): number {
    return this.#size;
  }

  /** Requests at hand of hosts that do not wait. */
  get available(): number {
    return this.#size - this.#aside;
  }

  /** When the next host that waits for a time may go; null when none does. */
  get nextDueAtMs(): number | null {
    return this.#timed.nextAtMs;
  }

  add(requests: readonly LeasedRequest[], nowMs: number): void {
    for (const request of requests) {
      const line = this.#lineOf(request);
      line.buffer.push(request);
      this.#count(line, 1);
      if (line.state === 'idle') this.#makeReady(line, nowMs);
      else if (line.farUntilMs !== null) this.#deferExcess(line, line.farUntilMs);
    }
  }

  /** Puts a request back to the front of its line: it was taken, but must be sent again. */
  putBack(request: LeasedRequest, nowMs: number): void {
    const line = this.#lineOf(request);
    line.buffer.unshift(request);
    this.#count(line, 1);
    if (line.state === 'idle') this.#makeReady(line, nowMs);
  }

  /** @returns a request that may be sent now and whose grant is taken; null when none may */
  take(nowMs: number): Taken | null {
    for (let due = this.#timed.popDue(nowMs); due !== undefined; due = this.#timed.popDue(nowMs)) {
      // One that went on before its time may wait for another by now.
      if (due.state === 'timed' && due.dueAtMs <= nowMs) this.#goOn(due);
    }
    for (let line = this.#ready.shift(); line !== undefined; line = this.#ready.shift()) {
      const taken = this.#takeFrom(line, nowMs);
      if (taken !== null) return taken;
    }
    return null;
  }

  /** A request of the host has ended: a line that was full, or waits for longer than that may have ended, asks again. */
  released(host: string, nowMs: number): void {
    const line = this.#lines.get(host);
    if (line !== undefined && mayGoOn(line, nowMs)) this.#makeReady(line, nowMs);
    if (this.#bound.size === 0) return;
    for (const bound of this.#bound.get(host)?.values() ?? []) if (mayGoOn(bound, nowMs)) this.#makeReady(bound, nowMs);
  }

  /**
   * Hosts of which nothing more is wanted now: they have enough at hand, or wait for their robots.txt.
   * @param most enough for any host
   */
  satedHosts(nowMs: number, most: number): Set<string> {
    const sated = new Set<string>();
    const atHand = this.#atHandByHost();
    for (const line of this.#allLines()) {
      if (line.buffer.length === 0 || line.farUntilMs !== null) continue;
      const appetite = this.#gate.appetite(line.host, nowMs, APPETITE_HORIZON_MS);
      const count = atHand?.get(line.host) ?? line.buffer.length;
      if (count >= Math.max(LEAST_AT_HAND, Math.min(appetite, most)) || line.state === 'robots') sated.add(line.host);
    }
    return sated;
  }

  /** Of hosts with several lines: what their sessions could send soon. null = no host has several. */
  #atHandByHost(): Map<string, number> | null {
    if (this.#bound.size === 0) return null;
    const counts = new Map<string, number>();
    for (const { host, buffer, farUntilMs } of this.#allLines())
      if (farUntilMs === null) counts.set(host, (counts.get(host) ?? 0) + buffer.length);
    return counts;
  }

  *#allLines(): Generator<HostLine> {
    yield* this.#lines.values();
    for (const lines of this.#bound.values()) yield* lines.values();
  }

  /** Hosts with requests at hand. */
  get activeHosts(): number {
    return this.#lines.size + this.#bound.size;
  }

  /** Takes everything at hand out, to be given back to the store. Lines that wait for something find themselves empty. */
  drain(): LeasedRequest[] {
    const all: LeasedRequest[] = [];
    for (const line of this.#allLines()) {
      all.push(...line.buffer.drain());
      line.isAside = false;
      if (line.state === 'full' || line.state === 'robots') line.state = 'idle';
    }
    this.#lines.clear();
    this.#bound.clear();
    this.#size = 0;
    this.#aside = 0;
    return all;
  }

  #takeFrom(line: HostLine, nowMs: number): Taken | null {
    const head = this.#allowedHead(line, nowMs);
    if (head === undefined) return null;
    const answer = this.#gate.tryAcquire(line.host, nowMs, line.sessionId);
    if (typeof answer === 'number') {
      this.#standAside(line, answer, nowMs);
      return null;
    }
    const heldSinceMs = line.heldSinceMs;
    const politenessMs = heldSinceMs === null ? 0 : nowMs - heldSinceMs;
    const queueMs = Math.max(0, nowMs - line.headSinceMs - politenessMs);
    this.#dropHead(line, nowMs);
    if (line.buffer.length > 0) this.#makeReady(line, nowMs);
    else this.#retire(line);
    return { request: head, key: answer, politenessMs, queueMs };
  }

  /** The first request that robots.txt allows; those it forbids are skipped on the way. */
  #allowedHead(line: HostLine, nowMs: number): LeasedRequest | undefined {
    for (let head = line.buffer.peek(); head !== undefined; head = line.buffer.peek()) {
      const verdict = this.#robots.check(head.url, nowMs);
      if (verdict === 'allowed') return head;
      if (verdict === 'unknown') {
        this.#awaitRobots(line, head, nowMs);
        return undefined;
      }
      this.#dropHead(line, nowMs);
      this.#onSkip(head, verdict.disallowed);
    }
    this.#retire(line);
    return undefined;
  }

  #awaitRobots(line: HostLine, head: LeasedRequest, nowMs: number): void {
    const reason = this.#gate.givenUp(line.host, nowMs);
    if (reason !== null) {
      this.#giveUp(line, reason);
      return;
    }
    line.state = 'robots';
    line.heldSinceMs ??= nowMs;
    this.#setAside(line);
    void this.#robots.whenKnown(head.url).then(() => {
      if (line.state !== 'robots') return;
      this.#goOn(line);
      this.#wake();
    });
  }

  #standAside(line: HostLine, askAgainAtMs: number, nowMs: number): void {
    const reason = this.#gate.givenUp(line.host, nowMs);
    if (reason !== null) {
      this.#giveUp(line, reason);
      return;
    }
    line.heldSinceMs ??= nowMs;
    this.#setAside(line);
    if (askAgainAtMs === Number.POSITIVE_INFINITY) {
      line.state = 'full';
      return;
    }
    line.state = 'timed';
    line.dueAtMs = askAgainAtMs;
    this.#timed.push(askAgainAtMs, line);
    if (askAgainAtMs - nowMs <= APPETITE_HORIZON_MS) return;
    if (line.sessionId === null) {
      this.#giveExcessBack(line);
      return;
    }
    line.farUntilMs = askAgainAtMs;
    this.#deferExcess(line, askAgainAtMs);
  }

  /** It waits: what it has at hand must not keep others from being fetched. */
  #setAside(line: HostLine): void {
    if (line.isAside) return;
    line.isAside = true;
    this.#aside += line.buffer.length;
  }

  #goOn(line: HostLine): void {
    if (line.isAside) {
      line.isAside = false;
      this.#aside -= line.buffer.length;
    }
    line.farUntilMs = null;
    line.state = 'ready';
    this.#ready.push(line);
  }

  #giveExcessBack(line: HostLine): void {
    const excess = this.#cutExcess(line);
    if (excess.length > 0) this.#onExcess(excess);
  }

  // Given back untouched they would be claimed again at once, as others of their host can go on.
  #deferExcess(line: HostLine, untilMs: number): void {
    const excess = this.#cutExcess(line);
    if (excess.length > 0) this.#onDeferred(excess, untilMs);
  }

  #cutExcess(line: HostLine): LeasedRequest[] {
    if (line.buffer.length <= LEAST_AT_HAND) return [];
    const excess = line.buffer.cutAfter(LEAST_AT_HAND);
    this.#count(line, -excess.length);
    return excess;
  }

  #count(line: HostLine, change: number): void {
    this.#size += change;
    if (line.isAside) this.#aside += change;
  }

  #giveUp(line: HostLine, reason: string): void {
    const left = line.buffer.drain();
    this.#count(line, -left.length);
    line.isAside = false;
    this.#retire(line);
    this.#onGivenUp(line.host, reason, left);
  }

  #dropHead(line: HostLine, nowMs: number): void {
    line.buffer.shift();
    this.#count(line, -1);
    line.headSinceMs = nowMs;
    line.heldSinceMs = null;
  }

  #makeReady(line: HostLine, nowMs: number): void {
    if (line.state === 'idle') line.headSinceMs = nowMs;
    this.#goOn(line);
  }

  #retire(line: HostLine): void {
    line.state = 'idle';
    line.isAside = false;
    line.heldSinceMs = null;
    line.farUntilMs = null;
    // One that was drained may have been followed by another.
    if (line.sessionId !== null) this.#retireBound(line, line.sessionId);
    else if (this.#lines.get(line.host) === line) this.#lines.delete(line.host);
  }

  #retireBound(line: HostLine, sessionId: string): void {
    const lines = this.#bound.get(line.host);
    if (lines?.get(sessionId) !== line) return;
    lines.delete(sessionId);
    if (lines.size === 0) this.#bound.delete(line.host);
  }

  #lineOf(request: LeasedRequest): HostLine {
    const { host } = request;
    const sessionId = boundSessionOf(request);
    const lines = sessionId === null ? this.#lines : this.#boundLinesOf(host);
    const name = sessionId ?? host;
    let line = lines.get(name);
    if (line === undefined) {
      line = new HostLine(host, sessionId);
      lines.set(name, line);
    }
    return line;
  }

  #boundLinesOf(host: string): Map<string, HostLine> {
    let lines = this.#bound.get(host);
    if (lines === undefined) {
      lines = new Map();
      this.#bound.set(host, lines);
    }
    return lines;
  }
}

/** The wait may be for an answer that is long in coming: that of the lone request after a refusal. */
function mayGoOn(line: HostLine, nowMs: number): boolean {
  return line.state === 'full' || (line.state === 'timed' && line.dueAtMs - nowMs > SOON_MS);
}
