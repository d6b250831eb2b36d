import { describe } from 'vitest';
import { describeDatasets } from './datasets.ts';
import type { CreateRun } from './harness.ts';
import { describeAdding } from './queue-add.ts';
import { describeClaiming } from './queue-claim.ts';
import { describeCommitting } from './queue-commit.ts';
import { describeValues } from './values.ts';

export type { CreateRun, TestRun } from './harness.ts';

/** What every backend of a run must do. A backend calls it with a function that makes an empty run. */
export function describeRunStore(name: string, createRun: CreateRun): void {
  describe(`${name} as a run store`, () => {
    describeAdding(createRun);
    describeClaiming(createRun);
    describeCommitting(createRun);
    describeDatasets(createRun);
    describeValues(createRun);
  });
}
