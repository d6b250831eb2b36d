import type { FollowUp } from '../routes/define-route.ts';
import type { Job } from './job.ts';
import { fromFollowUp } from './new-request.ts';
import type { CrawlParts } from './parts.ts';

/** Takes the requests that routes ask for, where they may lead. */
export class FollowUps {
  readonly #parts: Pick<CrawlParts, 'settings' | 'recorder' | 'ports'>;
  readonly #refusedHosts = new Set<string>();

  constructor(parts: Pick<CrawlParts, 'settings' | 'recorder' | 'ports'>) {
    this.#parts = parts;
  }

  /** @throws TypeError for a URL that is not valid */
  add(job: Job, followUps: Iterable<FollowUp>): void {
    const base = { url: job.request.loadedUrl ?? job.request.url, label: job.route?.label ?? null };
    for (const followUp of followUps) {
      const request = fromFollowUp(followUp, base);
      const { session = request.label === base.label ? job.route?.session : undefined } = followUp;
      const isSticky = session === undefined ? undefined : session === 'sticky';
      if (this.#parts.settings.mayFollow(job.leased.host, request.host)) job.work.addRequest(request, isSticky);
      else this.#warnRefused(job.leased.host, request.url);
    }
  }

  #warnRefused(fromHost: string, url: string): void {
    const host = new URL(url).host;
    this.#parts.recorder.handled({ host, result: 'skipped', code: 'other host', url });
    if (this.#refusedHosts.has(host)) return;
    this.#refusedHosts.add(host);
    const message = `Requests found on ${fromHost} that lead to ${host} are skipped: allow it with followHosts`;
    this.#parts.ports.log.warn(message, { url });
  }
}
