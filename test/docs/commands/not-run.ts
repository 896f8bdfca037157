/** Shell blocks that no test runs: page, a text in the block, the reason. */
export const NOT_RUN: readonly (readonly [page: string, text: string, reason: string])[] = [
  ['README.md', 'npm test', '.ci/run gives both commands itself; `npm start` is in the next block'],
  ['CONTRIBUTING.md', 'npm run first-starts', 'these are the tests themselves'],
  ['CONTRIBUTING.md', 'npm run kills', 'these are the tests themselves'],
  ['docs/conformance.md', 'as `npm test` does', 'these are the tests themselves, and over real servers'],
  ['docs/conformance.md', "'test/e2e/**/*.test.ts'", 'needs a drachtio-server and a FreeSWITCH'],
  ['docs/conformance.md', 'RINGMASTER_TEST_DRACHTIO', 'needs a drachtio-server and a FreeSWITCH'],
  ['docs/operating/load.md', '50 calls from alice', 'puts load on the machine; test/load runs smaller ones'],
  ['docs/operating/load.md', '--ramp 10-150', 'puts load on the machine for minutes'],
  ['docs/performance.md', 'npm run bench', 'takes minutes, and measures the machine'],
  [
    'docs/operating/docker.md',
    'docker build',
    'needs a Docker engine; containers.ts checks the Dockerfile, and operator.ts runs what the image runs',
  ],
  ['docs/operating/docker.md', 'docker compose build', 'needs a Docker engine; containers.ts checks the compose file'],
  ['docs/operating/docker.md', 'docker compose stop node', 'needs a Docker engine'],
  ['docs/operating/docker.md', 'docker compose cp', 'needs a Docker engine'],
  ['docs/operating/docker.md', 'pg_dump', 'needs a Docker engine'],
  ['docs/operating/docker.md', 'pg_restore', 'needs a Docker engine'],
];
