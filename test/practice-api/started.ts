import { afterEach } from 'vitest';
import type { PracticeApiOptions } from '../../src/practice-api/options.ts';
import { type PracticeApi, startPracticeApi } from '../../src/practice-api/start-practice-api.ts';

const started: PracticeApi[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((api) => api.close()));
});

/** Starts a practice API without trouble but what the test asks for; it is closed when the test ends. */
export async function start(options: Partial<PracticeApiOptions> = {}): Promise<PracticeApi> {
  const calm = { port: 0, items: 40, latencyMs: 0, errorRate: 0, rateLimit: null, seed: 1 };
  const api = await startPracticeApi({ ...calm, ...options });
  started.push(api);
  return api;
}

/** @returns the parsed body of an answer that must be 200 */
export async function getJson<T>(url: string, init?: RequestInit): Promise<T> {
  const response = await fetch(url, init);
  if (response.status !== 200) throw new Error(`${response.status} from ${url}: ${await response.text()}`);
  return (await response.json()) as T;
}
