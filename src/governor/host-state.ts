import type { Sample } from '../core/sample.ts';
import { type BucketRequest, Buckets } from './buckets.ts';
import { Circuit, describeFailure } from './circuit.ts';
import type { HostPolicy } from './governor.ts';
import { ceilingPacer, type Pacer } from './pacer.ts';
import { type Profile, profileOf } from './signals/profile.ts';
import { ServerClock } from './signals/server-clock.ts';

/** What all keys of one host share: its policy, its requests in flight, its origins' circuits. */
export class HostState {
  readonly host: string;
  readonly policy: HostPolicy;
  inFlight = 0;
  /** Keys that refer to it. */
  keys = 0;
  /** The circuit that holds the host's requests back; null while none is open. */
  circuit: Circuit | null = null;
  readonly profile: Profile | undefined;
  /** What the server's names for its budgets were seen with; null while it names none. */
  buckets: Buckets | null = null;
  /** Whether its keys are asked for by bucket: a bucket nobody asks for must not take the blame alone. */
  isAskedByBucket = false;
  readonly #clock = new ServerClock();
  readonly #ceilings = new Map<string, Pacer | null>();
  readonly #circuits = new Map<string, Circuit>();

  constructor(host: string, policy: HostPolicy) {
    this.host = host;
    this.policy = policy;
    this.profile = profileOf(host);
  }

  /** Whether nothing would be lost by forgetting it. */
  get isForgettable(): boolean {
    const isUp = [...this.#circuits.values()].every((circuit) => !circuit.isOpen && !circuit.isDead);
    return this.keys === 0 && this.inFlight === 0 && this.buckets === null && isUp;
  }

  /** @returns the server's clock when the response came, Unix epoch ms */
  serverWallMs({ headers, endedAtMs, wallMs }: Sample): number {
    const { date } = headers;
    return this.#clock.read(Array.isArray(date) ? date[0] : date, { endedAtMs, wallMs });
  }

  learnBucket(request: BucketRequest, named: string): string {
    this.buckets ??= new Buckets();
    return this.buckets.learn(request, named);
  }

  /** The rate configured, or implied by the least delay; null = neither. */
  get configuredRps(): number | null {
    const byDelay = this.policy.minDelayMs > 0 ? 1000 / this.policy.minDelayMs : null;
    const byRate = this.policy.requestsPerSecond;
    if (byRate === null) return byDelay;
    return byDelay === null ? byRate : Math.min(byRate, byDelay);
  }

  /** The configured ceiling of one budget: its buckets share it. */
  ceilingOf(budget: string): Pacer | null {
    let ceiling = this.#ceilings.get(budget);
    if (ceiling === undefined) {
      ceiling = ceilingPacer(this.policy);
      this.#ceilings.set(budget, ceiling);
    }
    return ceiling;
  }

  /** @param path an origin, by one egress */
  circuitOf(path: string): Circuit {
    let circuit = this.#circuits.get(path);
    if (circuit === undefined) {
      circuit = new Circuit();
      this.#circuits.set(path, circuit);
    }
    return circuit;
  }

  /** After a circuit opened or closed: while one origin or egress answers, the others hold nothing back. */
  refreshCircuit(): void {
    const circuits = [...this.#circuits.values()];
    this.circuit = circuits.every((circuit) => circuit.isOpen) ? (circuits[0] ?? null) : null;
  }

  /** Why failures of the host are final; null while they are not. */
  get deadReason(): string | null {
    const circuits = [...this.#circuits.values()];
    const dead = circuits.find((circuit) => circuit.isDead);
    if (dead === undefined || !circuits.every((circuit) => circuit.isDead)) return null;
    return `${this.host} counts as dead: ${describeFailure(dead.lastFailure)}, and it never answered`;
  }

  readyAtMs(nowMs: number, hungAfterMs: number): number {
    if (this.circuit !== null) {
      const readyAtMs = this.circuit.readyAtMs(nowMs, hungAfterMs);
      if (readyAtMs > nowMs) return readyAtMs;
    }
    return this.inFlight < this.policy.maxConcurrency ? 0 : Number.POSITIVE_INFINITY;
  }

  take(nowMs: number): void {
    this.inFlight += 1;
    this.circuit?.sent(nowMs);
  }

  isParkedBeyond(atMs: number): boolean {
    return this.circuit !== null && this.circuit.openUntilMs > atMs;
  }

  openCircuitReason(nowMs: number): { untilMs: number; reason: string } | null {
    const { circuit } = this;
    if (circuit === null || circuit.openUntilMs <= nowMs) return null;
    return { untilMs: circuit.openUntilMs, reason: circuitReason(circuit) };
  }
}

/** @returns why the circuit is open, in plain words */
export function circuitReason(circuit: Circuit): string {
  return `${circuit.failuresInRow} failures in a row: ${describeFailure(circuit.lastFailure)}`;
}
