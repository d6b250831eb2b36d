import { createRequire } from 'node:module';
import type { Dataset, DatasetExportToOptions, KeyValueStore } from '@crawlee/core';
import { StoredDatasetClient } from './dataset-client.ts';

type Core = { Dataset: { prototype: Dataset }; KeyValueStore: typeof KeyValueStore };
type Target = { key: string; options: DatasetExportToOptions | undefined; contentType: string };

const FORMATS: Readonly<Record<string, 'csv' | 'json'>> = { 'text/csv': 'csv', 'application/json': 'json' };

let isInstalled = false;

/**
 * Lets `exportToCSV`, `exportToJSON` and `exportTo` of Crawlee's Dataset write what `millrace export` writes, where the
 * dataset is stored by us; others stay as they are. There is no other place: Crawlee makes its CSV of the items it gets,
 * with the first one's columns, true as 1, false as nothing, and objects as "[object Object]".
 */
export function useOwnExports(): void {
  if (isInstalled) return;
  isInstalled = true;
  // Only now, when Crawlee asks for a dataset: loading it takes longer than all a status needs.
  const { Dataset, KeyValueStore } = createRequire(import.meta.url)('@crawlee/core') as Core;
  const { prototype } = Dataset;
  const { exportTo, exportToCSV, exportToJSON } = prototype;
  const write = async (dataset: Dataset, { key, options, contentType }: Target): Promise<boolean> => {
    const { client } = dataset;
    const format = FORMATS[contentType];
    if (!(client instanceof StoredDatasetClient) || format === undefined) return false;
    const store = await KeyValueStore.open(options?.toKVS ?? null, { config: dataset.config });
    const text = await client.exportText(format, { desc: options?.desc ?? false });
    await store.setValue(key, text, { contentType });
    return true;
  };
  Object.assign(prototype, {
    async exportTo(this: Dataset, key: string, options?: DatasetExportToOptions, contentType = '') {
      if (await write(this, { key, options, contentType })) return this.export(options);
      return exportTo.call(this, key, options, contentType);
    },
    async exportToCSV(this: Dataset, key: string, options?: DatasetExportToOptions) {
      if (!(await write(this, { key, options, contentType: 'text/csv' }))) await exportToCSV.call(this, key, options);
    },
    async exportToJSON(this: Dataset, key: string, options?: DatasetExportToOptions) {
      const contentType = 'application/json';
      if (!(await write(this, { key, options, contentType }))) await exportToJSON.call(this, key, options);
    },
  });
}
