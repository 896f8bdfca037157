import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tokenFor } from '../../runtime/cli/node-access.ts';
import { useStage } from '../support/stage.ts';

describe('recordings of scenarios over REST', () => {
  const stage = useStage();

  async function ask(method: string, name: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const base = `${stage.node.base}/rest/v1`;
    const token = await tokenFor(base, undefined);
    return await fetch(`${base}/api/recordings/${name}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  }

  it('are files of the domain that can be read in parts and deleted', async () => {
    const folder = join(stage.node.dataDir, 'recordings');
    for (const domain of ['demo.local', 'other.local']) {
      await mkdir(join(folder, domain), { recursive: true });
      await writeFile(join(folder, domain, `${domain}-1.wav`), 'RIFF0123456789');
    }
    const whole = await ask('GET', 'demo.local-1.wav');
    expect([whole.status, whole.headers.get('content-type'), await whole.text()]).to.deep.equal([
      200,
      'audio/wav',
      'RIFF0123456789',
    ]);
    const part = await ask('GET', encodeURIComponent('recording:demo.local-1.wav'), { range: 'bytes=4-5' });
    expect([part.status, await part.text()]).to.deep.equal([206, '01']);
    for (const name of ['other.local-1.wav', encodeURIComponent('../other.local/other.local-1.wav'), 'none.wav']) {
      expect((await ask('GET', name)).status, name).to.equal(404);
      expect((await ask('DELETE', name)).status, name).to.equal(404);
    }
    expect((await ask('DELETE', 'demo.local-1.wav')).status).to.equal(204);
    expect((await ask('GET', 'demo.local-1.wav')).status).to.equal(404);
  });
});
