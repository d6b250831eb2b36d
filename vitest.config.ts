import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/tools/**'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // Machines of CI are shared: real processes, sockets and clocks may meet a pause. A test that needs more than one
    // try is reported as such.
    retry: process.env.CI ? 2 : 0,
  },
});
