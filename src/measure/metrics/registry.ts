import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { limitsByHost } from '../../report/host-record.ts';
import { labelledHosts, type MetricsSource } from './metrics-source.ts';

/** @returns all metrics but the latency histogram; each is read from the source when it is scraped */
export function createRegistry(source: MetricsSource): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addRequests(registry, source);
  addLimits(registry, source);
  addQueue(registry, source);
  addConnections(registry, source);
  return registry;
}

type Collected = { inc: (labels: Record<string, string>, value: number) => void };

/** A counter whose values are kept elsewhere. */
function counter(
  registry: Registry,
  facts: { name: string; help: string; labelNames: string[] },
  fill: (counter: Collected) => void,
): void {
  new Counter({
    ...facts,
    registers: [registry],
    collect() {
      this.reset();
      fill({ inc: (labels, value) => this.inc(labels, value) });
    },
  });
}

function gauge(
  registry: Registry,
  facts: { name: string; help: string; labelNames?: string[] },
  fill: (set: (labels: Record<string, string>, value: number) => void) => void,
): void {
  new Gauge({
    ...facts,
    labelNames: facts.labelNames ?? [],
    registers: [registry],
    collect() {
      this.reset();
      fill((labels, value) => this.set(labels, value));
    },
  });
}

function addRequests(registry: Registry, { hosts }: MetricsSource): void {
  const perHost = ['host'];
  counter(
    registry,
    {
      name: 'millrace_requests_total',
      help: 'Attempts by host and status; "none" = no answer',
      labelNames: ['host', 'status'],
    },
    ({ inc }) => {
      for (const { label, record } of labelledHosts(hosts())) {
        for (const [status, count] of record.statuses) inc({ host: label, status: String(status) }, count);
        const silent = [...record.networkFailures.values()].reduce((sum, count) => sum + count, 0);
        if (silent > 0) inc({ host: label, status: 'none' }, silent);
      }
    },
  );
  counter(
    registry,
    {
      name: 'millrace_network_failures_total',
      help: 'Attempts without an answer, by code',
      labelNames: ['host', 'code'],
    },
    ({ inc }) => {
      for (const { label, record } of labelledHosts(hosts()))
        for (const [code, count] of record.networkFailures) inc({ host: label, code }, count);
    },
  );
  counter(
    registry,
    { name: 'millrace_rejections_total', help: 'Answers that asked for less', labelNames: perHost },
    ({ inc }) => {
      for (const { label, record } of labelledHosts(hosts())) inc({ host: label }, record.limited);
    },
  );
  counter(registry, { name: 'millrace_retries_total', help: 'Retries spent', labelNames: perHost }, ({ inc }) => {
    for (const { label, record } of labelledHosts(hosts())) inc({ host: label }, record.retries);
  });
}

function addLimits(registry: Registry, { hosts, snapshots }: MetricsSource): void {
  const limits = () => {
    const shown = new Set(labelledHosts(hosts()).flatMap(({ label, host }) => (label === host ? [host] : [])));
    return [...limitsByHost(snapshots())].filter(([host]) => shown.has(host));
  };
  const perHost = ['host'];
  gauge(registry, { name: 'millrace_in_flight', help: 'Requests on the wire', labelNames: perHost }, (set) => {
    for (const [host, { inFlight }] of limits()) set({ host }, inFlight);
  });
  gauge(
    registry,
    {
      name: 'millrace_concurrency_limit',
      help: 'Most requests in flight that the governor allows now',
      labelNames: perHost,
    },
    (set) => {
      for (const [host, { concurrency }] of limits()) set({ host }, concurrency);
    },
  );
  gauge(
    registry,
    {
      name: 'millrace_rate_limit',
      help: 'Limit of the rate, requests/s, by who sets it: configured, stated or discovered',
      labelNames: ['host', 'source'],
    },
    (set) => {
      for (const [host, { limitRps, limitSource }] of limits())
        if (limitRps !== null) set({ host, source: limitSource ?? 'unknown' }, limitRps);
    },
  );
  gauge(registry, { name: 'millrace_parked', help: '1 while a host is left alone', labelNames: perHost }, (set) => {
    for (const [host, { parkedUntilMs, givenUp }] of limits())
      set({ host }, parkedUntilMs !== null || givenUp !== null ? 1 : 0);
  });
}

function addQueue(registry: Registry, source: MetricsSource): void {
  gauge(registry, { name: 'millrace_queue', help: 'Requests of the run, by state', labelNames: ['state'] }, (set) => {
    const { pending, succeeded, failed, skipped } = source.queue();
    for (const [state, count] of Object.entries({ pending, succeeded, failed, skipped })) set({ state }, count);
  });
  gauge(registry, { name: 'millrace_queue_leased', help: 'Requests at hand or being worked on' }, (set) =>
    set({}, source.leased()),
  );
  gauge(registry, { name: 'millrace_store_backlog', help: 'Results that wait for the store' }, (set) =>
    set({}, source.backlog()),
  );
}

function addConnections(registry: Registry, { connections }: MetricsSource): void {
  counter(
    registry,
    { name: 'millrace_connections_opened_total', help: 'Connections opened by this process', labelNames: [] },
    ({ inc }) => inc({}, connections().opened),
  );
  gauge(registry, { name: 'millrace_connections_waiting', help: 'Requests that wait for a connection' }, (set) =>
    set({}, connections().waiting),
  );
}
