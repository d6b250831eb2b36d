import type { ColumnPath } from './column-path.ts';

/** A row has a column that was not known when the header was written: rows came in while the file was. */
export class UnknownColumnsError extends Error {
  override readonly name = 'UnknownColumnsError';
  readonly path: ColumnPath;
  constructor(path: ColumnPath) {
    super(`Column "${path}" came in while the file was being written`);
    this.path = path;
  }
}
