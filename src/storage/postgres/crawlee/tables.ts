/**
 * The tables of Crawlee's own storages, which all clients of a schema share. `rank` is where a request stands among those
 * that wait: Crawlee's order number, negative at the forefront; NULL = handled. `locked_until` is when its lock ends.
 */
export function crawleeTables(schema: string): string[] {
  const t = (name: string): string => `${schema}.crawlee_${name}`;
  return [
    `CREATE TABLE ${t('storage')} (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind smallint NOT NULL, crawlee_id text NOT NULL UNIQUE,
       name text, created_at bigint NOT NULL, modified_at bigint NOT NULL, accessed_at bigint NOT NULL,
       total bigint NOT NULL DEFAULT 0, handled bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50)`,
    `CREATE UNIQUE INDEX crawlee_storage_name ON ${t('storage')} (kind, lower(name))`,
    `CREATE TABLE ${t('item')} (
       storage_id bigint NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, json text NOT NULL, PRIMARY KEY (storage_id, seq))`,
    `CREATE TABLE ${t('record')} (
       storage_id bigint NOT NULL, key text COLLATE "C" NOT NULL, content_type text NOT NULL, value bytea NOT NULL,
       PRIMARY KEY (storage_id, key))`,
    `CREATE TABLE ${t('request')} (
       storage_id bigint NOT NULL, id text COLLATE "C" NOT NULL, seq bigint GENERATED ALWAYS AS IDENTITY, rank bigint,
       locked_until bigint, locked_by text, json text NOT NULL, PRIMARY KEY (storage_id, id))`,
    `CREATE INDEX crawlee_request_ready ON ${t('request')} (storage_id, rank, seq)
       WHERE rank IS NOT NULL AND locked_until IS NULL`,
    `CREATE INDEX crawlee_request_locked ON ${t('request')} (storage_id, locked_until) WHERE locked_until IS NOT NULL`,
  ];
}
