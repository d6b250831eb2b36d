import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { Ports } from '../../../src/core/ports.ts';
import { type OpenRun, openRun } from '../../../src/storage/runs.ts';
import type { LeasedRequest, RunStore } from '../../../src/storage/store.ts';
import { Victim } from './process.ts';
import type { Task } from './task.ts';

export const realPorts: Ports = { clock: systemClock, random: Math.random, log: silentLog };

/** A storage folder with the processes that work in it; all of it is gone at the end of the test. */
export class Place {
  readonly storageDir: string;
  readonly #victims: Victim[] = [];
  readonly #opened: OpenRun[] = [];

  private constructor(storageDir: string) {
    this.storageDir = storageDir;
  }

  static async create(): Promise<Place> {
    return new Place(await mkdtemp(join(tmpdir(), 'millrace-fault-')));
  }

  get database(): string {
    return join(this.storageDir, 'runs/default/run.sqlite');
  }

  start(task: Task): Victim {
    const victim = new Victim(task);
    this.#victims.push(victim);
    return victim;
  }

  async open(access: 'own' | 'join' = 'own', ports = realPorts): Promise<RunStore> {
    const run = await openRun({ storageDir: this.storageDir, name: 'default', durability: 'normal', ports, access });
    this.#opened.push(run);
    return run.store;
  }

  /** Closes what this process has open. */
  async close(): Promise<void> {
    for (const run of this.#opened.splice(0)) await run.close();
  }

  async remove(): Promise<void> {
    for (const victim of this.#victims) await victim.kill();
    await this.close();
    await rm(this.storageDir, { recursive: true, force: true });
  }

  /**
   * SQLite finds the file sound, and each request is in exactly one place. The run must be closed.
   */
  expectSound(): void {
    const db = new DatabaseSync(this.database);
    const one = (sql: string) => Object.values(db.prepare(sql).get()!)[0];
    expect(one('PRAGMA integrity_check')).toBe('ok');
    const places = ['ready', 'delayed', 'leased', 'done'].map((t) => `SELECT request_id FROM ${t}`).join(' UNION ALL ');
    expect(one(`SELECT count(*) FROM (${places})`)).toBe(one('SELECT count(*) FROM request'));
    expect(one(`SELECT count(*) FROM request WHERE id NOT IN (${places})`)).toBe(0);
    expect(one('SELECT total FROM queue WHERE id = 1')).toBe(one('SELECT count(*) FROM request'));
    expect(one('SELECT total - succeeded - failed - skipped FROM queue WHERE id = 1')).toBe(
      one('SELECT coalesce(sum(pending), 0) FROM host'),
    );
    db.close();
  }
}

export async function claimAll(store: RunStore, leaseMs = 600_000): Promise<LeasedRequest[]> {
  const options = { limit: 100_000, perHost: 100_000, skipHosts: new Set<string>(), leaseMs };
  return (await store.queue.claim(options)).requests;
}

export async function rowsOf<T>(store: RunStore, dataset = 'default'): Promise<T[]> {
  const rows = await store.datasets.page(dataset, { afterSeq: 0, limit: 1_000_000 });
  return rows.map(({ json }) => JSON.parse(json) as T);
}
