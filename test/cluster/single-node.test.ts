import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import manifest from '../../package.json' with { type: 'json' };
import { TestNode } from '../support/node.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const RECORDER = new URL('support/record-modules.mjs', import.meta.url).href;

/** Of the packages in package.json, those that a start loads. Each costs every start: load others when they are first needed. */
const LOADED = [
  '@electric-sql/pglite',
  '@fastify/cookie',
  '@fastify/multipart',
  '@marcbachmann/cel-js',
  // By prom-client.
  '@opentelemetry/api',
  'acorn',
  'ajv',
  'aws4fetch',
  'drachtio-fsmrf',
  'drachtio-modesl',
  'drachtio-srf',
  'fastify',
  'find-my-way',
  'kysely',
  'pino',
  'prom-client',
  'sdp-transform',
  'typebox',
  'ws',
  'yaml',
];

describe('a node without RINGMASTER_CLUSTER', function () {
  this.timeout(90_000);
  const folder = temporaryFolder();
  let node: TestNode;
  let loaded: readonly string[];

  before(async () => {
    const list = `${folder}/modules`;
    node = await TestNode.start({ env: { NODE_OPTIONS: `--import=${RECORDER}`, RECORDED_MODULES: list } });
    loaded = readFileSync(list, 'utf8').split('\n');
  });
  after(() => node.remove());

  it('loads nothing of NATS or the cluster, and says that it is alone', async () => {
    const rest = await node.login();
    expect((await rest.get('/rest/v1/api/cluster')).json()).to.deep.equal({ state: 'single', nodes: [] });
    expect(await node.health()).not.to.have.property('cluster');
    rest.close();
    expect(loaded.some((url) => url.endsWith('/runtime/node/compose.ts'))).to.equal(true);
    expect(loaded.filter((url) => /@nats-io|\/runtime\/cluster\//.test(url))).to.deep.equal([]);
  });

  it('loads no package at its start but those that each start needs', () => {
    const packages = Object.keys(manifest.dependencies).filter((name) =>
      loaded.some((url) => url.includes(`/node_modules/${name}/`)),
    );
    expect(packages).to.have.members(LOADED);
  });
});
