import { answerHeaders } from '../../../bench/zoo/answer.ts';
import { type Cell, makeLimiter } from '../../../bench/zoo/cells.ts';
import { seededRandom } from '../../../bench/zoo/simulator.ts';
import { readSignals } from '../../../src/governor/signals/read-signals.ts';
import { RampPlan } from '../../../src/measure/ramp/ramp-plan.ts';
import type { RampResult } from '../../../src/measure/ramp/ramp-report.ts';

type Due = { atMs: number; order: number; run: () => void };

/** Runs a ramp against a limiter of the zoo on a virtual clock; timers are up to 1 ms late. */
export function playRamp(
  cell: Cell,
  { maxRate, seed = 1, startMs = 0 }: { maxRate: number; seed?: number; startMs?: number },
): RampResult & { durationMs: number } {
  const random = seededRandom(seed);
  const limiter = makeLimiter(cell);
  const wallAtStartMs = Date.UTC(2026, 0, 1);
  const agenda: Due[] = [];
  let nowMs = startMs;
  let order = 0;
  let wakeAtMs = Number.POSITIVE_INFINITY;
  const plan = new RampPlan({ maxRate, nowMs });
  const add = (atMs: number, run: () => void): void => {
    const item = { atMs, order: order++, run };
    let at = agenda.length;
    while (at > 0 && agenda[at - 1]!.atMs <= atMs) at--;
    agenda.splice(at, 0, item);
  };
  const pump = (): void => {
    while (!plan.isDone) {
      const dueMs = plan.nextSendMs(nowMs);
      if (dueMs > nowMs) {
        if (dueMs < wakeAtMs) {
          wakeAtMs = dueMs;
          add(dueMs + random(), () => {
            wakeAtMs = Number.POSITIVE_INFINITY;
            pump();
          });
        }
        return;
      }
      send(plan.sent(nowMs));
    }
  };
  const send = (request: number): void => {
    add(nowMs + 0.2, () => {
      const decision = limiter.arrive(nowMs);
      const wallMs = wallAtStartMs + nowMs;
      const headers = answerHeaders(cell.headers, { limiter, decision, wallMs });
      const status = decision.accepted ? 200 : cell.refusalStatus;
      const servedMs = cell.latencyMs * (1 + cell.jitter * (2 * random() - 1));
      add(nowMs + decision.delayMs + servedMs, () => {
        if (decision.accepted) limiter.leave(nowMs);
        const { limits, retryAfterMs, refusal } = readSignals(
          { status, headers, bodyText: null },
          wallAtStartMs + nowMs,
        );
        plan.answered(request, { nowMs, status, isRefused: refusal !== null, retryAfterMs, limits });
        pump();
      });
    });
  };
  pump();
  for (let item = agenda.pop(); item !== undefined && !plan.isDone; item = agenda.pop()) {
    nowMs = item.atMs;
    item.run();
  }
  return { ...plan.result(), durationMs: nowMs - startMs };
}
