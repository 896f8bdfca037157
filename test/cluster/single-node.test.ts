import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { TestNode } from '../support/node.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const RECORDER = new URL('support/record-modules.mjs', import.meta.url).href;

describe('a node without RINGMASTER_CLUSTER', function () {
  this.timeout(90_000);
  const folder = temporaryFolder();

  it('loads nothing of NATS or the cluster, and says that it is alone', async () => {
    const list = `${folder}/modules`;
    const node = await TestNode.start({ env: { NODE_OPTIONS: `--import=${RECORDER}`, RECORDED_MODULES: list } });
    try {
      const rest = await node.login();
      expect((await rest.get('/rest/v1/api/cluster')).json()).to.deep.equal({ state: 'single', nodes: [] });
      expect(await node.health()).not.to.have.property('cluster');
      rest.close();
      const loaded = readFileSync(list, 'utf8').split('\n');
      expect(loaded.some((url) => url.endsWith('/runtime/node/compose.ts'))).to.equal(true);
      expect(loaded.filter((url) => /@nats-io|\/runtime\/cluster\//.test(url))).to.deep.equal([]);
    } finally {
      await node.remove();
    }
  });
});
