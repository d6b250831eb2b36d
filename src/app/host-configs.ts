import { hostConfig } from '../config/host-config.ts';
import type { HostConfig } from '../config/host-schema.ts';
import type { Input } from '../config/input-schema.ts';

const MOST_KEPT = 10_000;

/** Host settings, each worked out once. */
export function hostConfigs(hosts: Input['hosts']): (host: string) => HostConfig {
  const known = new Map<string, HostConfig>();
  return (host) => {
    let config = known.get(host);
    if (config === undefined) {
      config = hostConfig(hosts, host);
      if (known.size >= MOST_KEPT) known.clear();
      known.set(host, config);
    }
    return config;
  };
}
