import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { AppCommands, CommandContext } from '../app-commands.ts';
import type { ProbeJob } from '../config/measure-jobs.ts';
import type { BenchSettings, ProbeSettings } from '../config/measure-schema.ts';
import { EnvironmentError, messageOf, UsageError } from '../core/errors.ts';
import type { HttpClient } from '../http/client.ts';
import { createGotScrapingClient } from '../http/got-scraping-client.ts';
import { createUndiciClient } from '../http/undici-client.ts';
import type { BenchReport, BenchSetting } from '../measure/bench/bench-report.ts';
import { printBench, settingText } from '../measure/bench/print-bench.ts';
import { compareBenches, runBench } from '../measure/bench/run-bench.ts';
import { targetRegion } from '../measure/bench/target-region.ts';
import { describeMachine } from '../measure/common/machine.ts';
import type { MeasureTarget, OpenClient } from '../measure/common/send.ts';
import { compareProbes, printComparison, readSavedProbe } from '../measure/probe/compare-probes.ts';
import { printProbe } from '../measure/probe/print-probe.ts';
import type { ProbeReport, UrlProbe } from '../measure/probe/probe-report.ts';
import { probeUrl } from '../measure/probe/probe-url.ts';
import { hostSettings } from '../measure/ramp/hosts-block.ts';
import { announcement, printRamp, rampProgressText } from '../measure/ramp/print-ramp.ts';
import { type RampOptions, runRamp } from '../measure/ramp/run-ramp.ts';
import { checkSetup, printSetup } from '../measure/setup/check-setup.ts';
import { openVault } from './secrets.ts';
import { ownVersion, userAgentOf } from './user-agent.ts';

const PRODUCT_TOKEN = 'millrace';
const FRESH_SAMPLES = 4;
const REUSED_SAMPLES = 5;
const MOST_CONNECTIONS = 10_000;

/** `millrace probe`: URLs, two saved reports side by side, or the set-up. */
export const probe: AppCommands['probe'] = (job, context) => {
  if (job.kind === 'setup') return probeSetup(job, context);
  return job.kind === 'compare' ? compareSaved(job, context) : probeUrls(job, context);
};

async function probeUrls(
  job: Extract<ProbeJob, { kind: 'urls' }>,
  context: CommandContext,
): ReturnType<AppCommands['probe']> {
  const urls: UrlProbe[] = [];
  for (const url of job.urls) urls.push(await probeOne(url, job.settings, context));
  const { clock } = context.ports;
  const report: ProbeReport = {
    kind: 'millrace probe',
    version: 1,
    madeAt: new Date(clock.wallMs()).toISOString(),
    machine: describeMachine(context.env, ownVersion()),
    urls,
  };
  if (job.saveTo !== null) await save(job.saveTo, report);
  const isAnswered = urls.every(({ error, refusal }) => error === null && refusal === null);
  return {
    text: job.json ? JSON.stringify(report, null, 2) : urls.map((found) => printProbe(found, context)).join('\n\n\n'),
    exitCode: isAnswered ? 0 : 3,
  };
}

function probeOne(url: string, settings: ProbeSettings, context: CommandContext): Promise<UrlProbe> {
  const { clock } = context.ports;
  return probeUrl(targetOf(url, settings, context), {
    clock,
    openClient: clientsOf(context),
    trust: {},
    freshCount: FRESH_SAMPLES,
    reusedCount: REUSED_SAMPLES,
    keepAliveBoundMs: settings.keepAliveMs,
    productToken: PRODUCT_TOKEN,
    wishedRps: settings.rate,
    maxConcurrency: settings.maxConcurrency,
    signal: context.signal,
  });
}

async function save(file: string, report: ProbeReport): Promise<void> {
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`).catch((error: unknown) => {
    throw new EnvironmentError(`${file} cannot be written: ${messageOf(error)}`, { cause: error });
  });
}

async function compareSaved(
  { files, json }: Extract<ProbeJob, { kind: 'compare' }>,
  { color }: CommandContext,
): ReturnType<AppCommands['probe']> {
  const reports = await Promise.all(
    files.map(async (file) => ({ name: basename(file, '.json'), report: readSavedProbe(await read(file), file) })),
  );
  const comparisons = compareProbes(reports);
  if (comparisons.length === 0) throw new UsageError('No URL was measured in more than one of these probes.');
  return { text: json ? JSON.stringify(comparisons, null, 2) : printComparison(comparisons, { color }), exitCode: 0 };
}

async function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`, { cause: error });
  });
}

async function probeSetup(
  { storageDir, databaseUrl, json }: Extract<ProbeJob, { kind: 'setup' }>,
  { ports, env, color }: CommandContext,
): ReturnType<AppCommands['probe']> {
  const checks = await checkSetup({ clock: ports.clock, env, storageDir, databaseUrl });
  return {
    text: json ? JSON.stringify(checks, null, 2) : printSetup(checks, { color }),
    exitCode: checks.some(({ status }) => status === 'problem') ? 1 : 0,
  };
}

/** `millrace bench`: one load, or two in turns. */
export const bench: AppCommands['bench'] = async (job, context) => {
  const { clock, log } = context.ports;
  const setting = settingOf(job.settings);
  const other = job.compare === null ? null : settingOf({ ...job.settings, ...job.compare });
  for (const each of other === null ? [setting] : [setting, other]) log.info(`${job.url}: ${settingText(each)}`);
  const options = {
    target: targetOf(job.url, job.settings, context),
    clock,
    openClient: (each: BenchSetting) => clientOf(each, context),
    signal: context.signal,
  };
  const outcome = other === null ? await runBench(setting, options) : await compareBenches([setting, other], options);
  const report: BenchReport = {
    kind: 'millrace bench',
    version: 1,
    madeAt: new Date(clock.wallMs()).toISOString(),
    url: job.url,
    machine: describeMachine(context.env, ownVersion()),
    targetRegion: outcome.headers === null ? null : targetRegion(outcome.headers),
    results: outcome.results,
    comparison: outcome.comparison,
  };
  return {
    text: job.json ? JSON.stringify(report, null, 2) : printBench(report, context),
    exitCode: outcome.results.every(({ statusCodes }) => Object.keys(statusCodes).length > 0) ? 0 : 3,
  };
};

/** `millrace ramp`: says what it will do, asks, and does it. */
export const ramp: AppCommands['ramp'] = async (job, context, confirm) => {
  const { url, settings } = job;
  const answer = await confirm(announcement(url, settings.maxRate));
  if (answer === null) throw new UsageError('Nobody can be asked whether to go on: agree to it by --yes.');
  if (!answer) return { text: '', exitCode: 0 };
  const { clock } = context.ports;
  const client = createUndiciClient({
    ports: context.ports,
    maxConnectionsPerOrigin: MOST_CONNECTIONS,
    blockPrivateAddresses: false,
  });
  try {
    const result = await runRamp({
      target: targetOf(url, settings, context),
      client,
      clock,
      maxRate: settings.maxRate,
      signal: context.signal,
      onProgress: rampProgress(context),
    });
    const host = hostSettings(result);
    const report = {
      kind: 'millrace ramp',
      version: 1,
      url,
      machine: describeMachine(context.env, ownVersion()),
      result,
      host,
    };
    return {
      text: job.json ? JSON.stringify(report, null, 2) : printRamp(url, result, context),
      exitCode: result.points.some(({ good }) => good > 0) ? 0 : 3,
    };
  } finally {
    context.area.clear();
    await client.close();
  }
};

const RAMP_TOLD_EVERY_MS = 10_000;

/** On a terminal one line that is drawn anew; elsewhere a line for each phase, and every ten seconds of it. */
function rampProgress({ area, ports: { clock, log } }: CommandContext): RampOptions['onProgress'] {
  let told = { phase: '', atMs: 0 };
  return ({ phase, result: { points } }) => {
    const text = rampProgressText(phase, points);
    if (area.isTerminal) area.draw([`  ${text}`]);
    const nowMs = clock.nowMs();
    // Of its first second nothing is known before that is over.
    const isNews =
      !area.isTerminal && points.length > 1 && (phase !== told.phase || nowMs - told.atMs >= RAMP_TOLD_EVERY_MS);
    if (isNews) told = { phase, atMs: nowMs };
    log[isNews ? 'info' : 'debug'](text);
  };
}

/** As many to warm up as fill the slots, and at least a tenth. */
function settingOf(settings: BenchSettings & { httpClient?: BenchSetting['httpClient'] }): BenchSetting {
  const { requests, concurrency, rate, http2, httpClient = 'undici' } = settings;
  const warmup = settings.warmup ?? Math.max(concurrency, Math.ceil(requests / 10));
  return { requests, warmup, concurrency, rate, http2, httpClient };
}

function clientOf({ httpClient, concurrency, rate }: BenchSetting, { ports }: CommandContext): HttpClient {
  const maxConnectionsPerOrigin = rate === null ? concurrency : MOST_CONNECTIONS;
  const options = { ports, maxConnectionsPerOrigin, blockPrivateAddresses: false };
  return httpClient === 'undici' ? createUndiciClient(options) : createGotScrapingClient(options);
}

/** What a crawl would send, so that the server treats both alike. */
function targetOf(
  url: string,
  { headers, http2, timeoutMs }: Pick<ProbeSettings, 'headers' | 'http2' | 'timeoutMs'>,
  { env }: CommandContext,
): MeasureTarget {
  const vault = openVault(env, process.cwd());
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), vault.reveal(value)] as const);
  return {
    url,
    headers: {
      accept: 'application/json, */*;q=0.8',
      'accept-encoding': 'gzip, deflate, br, zstd',
      'user-agent': userAgentOf({ userAgent: null, contact: null }),
      ...Object.fromEntries(own),
    },
    http2,
    timeouts: { connectMs: timeoutMs, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs },
  };
}

function clientsOf({ ports }: CommandContext): OpenClient {
  return ({ resolve, maxConnectionsPerOrigin = MOST_CONNECTIONS } = {}) =>
    createUndiciClient({ ports, maxConnectionsPerOrigin, blockPrivateAddresses: false, resolve });
}
