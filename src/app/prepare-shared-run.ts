import type { CrawlJob } from '../config/crawl-job.ts';
import { EnvironmentError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import { SECOND_MS } from '../core/units.ts';
import {
  moveSharedToPrevious,
  type OpenSharedRun,
  openSharedRun,
  readSharedRun,
  type SharedRunAddress,
  sharedRunExists,
} from '../storage/shared-runs.ts';
import { carriedOver } from './carried-over.ts';
import { noSuchRun } from './existing-run.ts';
import { metaOf, otherInput, type PreparedRun, resumedJob } from './prepare-run.ts';
import { withOutputsOf } from './remembered-outputs.ts';
import { loadMeta, type RunMeta, saveMeta } from './run-meta.ts';
import { SharedSeat } from './shared-seat.ts';

/** Set in a run's values when its lead has written all it writes at the end. */
export const ENDED_BY_LEAD_KEY = 'ended-by-lead';
const LOOK_EVERY_MS = 500;
// A deployment starts its workers in any order.
const LONGEST_WAIT_FOR_RUN_MS = 300 * SECOND_MS;

type Seated = { run: OpenSharedRun; seat: SharedSeat };
type Asked = { job: CrawlJob; address: SharedRunAddress; ports: Ports; signal: AbortSignal };

/**
 * Takes a place at a shared run: whoever comes first begins it, the others join. A finished run is left as it is, but for
 * --fresh.
 * @param fingerprint of the job's input; not asked for when the run alone is named
 * @throws UsageError for another input than the run's, or a run that is not there
 * @throws EnvironmentError when --fresh is asked for while others work on it, or the database refuses
 */
export async function prepareSharedRun(asked: Asked, fingerprint: () => Promise<string>): Promise<PreparedRun> {
  const { job, address } = asked;
  if (job.workOnly) await awaitRun(asked);
  else if (job.source === 'resume' && !(await sharedRunExists(address))) throw noSuchRun(job);
  const wanted = job.source === 'resume' ? null : await fingerprint();
  let seated = await takeSeat(asked);
  try {
    const stored = await loadMeta(seated.run.store.values);
    if (stored !== null && beginsAnew(job, stored)) {
      const carried = await carriedOver(seated.run.store.values);
      seated = await keepAsPrevious(asked, seated);
      for (const [key, value] of carried) await seated.run.store.values.set(key, value);
      return await begin(asked, seated, wanted ?? stored.fingerprint, stored);
    }
    if (stored === null) return await begin(asked, seated, wanted ?? '', null);
    const prepared = joined(asked, seated, stored, wanted);
    if (prepared.meta !== stored) await saveMeta(seated.run.store.values, prepared.meta);
    if (seated.seat.isLead && !stored.isFinished) await seated.run.store.values.delete(ENDED_BY_LEAD_KEY);
    return prepared;
  } catch (error) {
    await seated.run.close();
    throw error;
  }
}

function beginsAnew(job: CrawlJob, stored: RunMeta): boolean {
  return !job.workOnly && (job.fresh || job.samplePages !== null || stored.samplePages !== undefined);
}

async function takeSeat({ job, address, ports }: Asked): Promise<Seated> {
  const run = await openSharedRun(address);
  const seat = new SharedSeat({ store: run.store, mayLead: job.workOnly !== true, ports });
  try {
    await seat.begin();
  } catch (error) {
    await run.close();
    throw error;
  }
  return { run, seat };
}

async function keepAsPrevious(asked: Asked, { run }: Seated): Promise<Seated> {
  const { name } = asked.address;
  if (await run.store.hasOtherWorkers())
    throw new EnvironmentError(
      `Run "${name}" is in use by other workers: let them end, or use another name (--run NAME).`,
    );
  await run.close();
  await moveSharedToPrevious(asked.address);
  return takeSeat(asked);
}

/** The lead writes down what is crawled; whoever came at the same time waits for that. */
async function begin(asked: Asked, seated: Seated, wanted: string, stored: RunMeta | null): Promise<PreparedRun> {
  const { job, ports, signal } = asked;
  const { run, seat } = seated;
  while (!seat.isLead) {
    const found = await loadMeta(run.store.values);
    if (found !== null) return joined(asked, seated, found, job.source === 'resume' ? null : wanted);
    await ports.clock.sleep(LOOK_EVERY_MS, signal);
    await seat.beat();
  }
  const begun = stored !== null && job.source === 'resume' ? resumedJob(job, stored) : job;
  const meta = metaOf(begun, { fingerprint: wanted, exports: stored?.exports ?? [] });
  await saveMeta(run.store.values, meta);
  return { run, meta, job: begun, isResumed: false, seat };
}

function joined({ job }: Asked, { run, seat }: Seated, stored: RunMeta, wanted: string | null): PreparedRun {
  if (wanted !== null && wanted !== stored.fingerprint) throw otherInput(job);
  const resumed = resumedJob(job, stored);
  if (seat.isLead) return { run, meta: withOutputsOf(job, stored), job: resumed, isResumed: true, seat };
  // The files are the lead's, perhaps on another machine: should the lead pass to this one, it writes its own.
  const { outputs, csv, force } = job;
  return { run, meta: stored, job: { ...resumed, outputs, csv, force }, isResumed: true, seat };
}

/** A worker may be started before the crawl. */
async function awaitRun({ job, address, ports, signal }: Asked): Promise<void> {
  const giveUpAtMs = ports.clock.nowMs() + LONGEST_WAIT_FOR_RUN_MS;
  for (let hasTold = false; !(await isBegun(address)); hasTold = true) {
    if (!hasTold) ports.log.info(`Waiting for run "${address.name}" to be begun by \`millrace crawl INPUT\`.`);
    if (ports.clock.nowMs() > giveUpAtMs) throw noSuchRun(job);
    await ports.clock.sleep(LOOK_EVERY_MS, signal);
  }
}

async function isBegun(address: SharedRunAddress): Promise<boolean> {
  const store = await readSharedRun(address);
  const meta = store === null ? null : await loadMeta(store.values);
  await store?.close();
  return meta !== null;
}
