import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteRun } from '../../src/storage/sqlite/open.ts';
import { describeRunStore } from './run-store/index.ts';

describeRunStore('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-run-'));
  const file = join(folder, 'run.sqlite');
  return {
    open: (ports, access = 'own') => openSqliteRun({ file, durability: 'normal', ports, access }),
    remove: () => rm(folder, { recursive: true }),
  };
});
