import { expect } from 'chai';
import { Phone } from '../phones/phone.ts';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { REAL_MEDIA } from '../support/real-servers.ts';

const RECORDINGS = '/rest/v1/domain/recordings';

interface Recording {
  readonly id: string;
  readonly status: string;
  readonly length: number;
  readonly size: number;
  readonly sha256: string;
  readonly reason: string;
}

describe('recordings of a killed node', () => {
  it('are filed at the next start, which reports lost ones', async function () {
    this.timeout(60_000);
    const node = await TestNode.start();
    const phones: Phone[] = [];
    try {
      const admin = await node.login();
      expect((await admin.send('POST', '/rest/v1/domain/recordingrules', { body: {} })).status).to.equal(200);
      for (const login of ['alice', 'bob']) {
        const phone = await Phone.start({
          login,
          domain: 'demo.local',
          password: `demo-${login}`,
          registrar: node.sip,
        });
        phones.push(phone);
        await phone.register();
      }
      const [alice, bob] = phones as [Phone, Phone];
      const call = await alice.call('102');
      const taken = await bob.incoming();
      await taken.answer();
      await call.answered();
      const answered = performance.now();
      call.play(500);
      await taken.hears(500);
      // The media server writes about twice a second.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      admin.close();
      await node.kill();
      await node.restart();
      const again = await node.login();
      const [recording] = await eventually(async () => {
        const list = (await again.get(RECORDINGS)).json<Recording[]>();
        expect(list.map(({ status, reason }) => [status, reason])).to.deep.equal([['saved', '']]);
        return list;
      }, 5000);
      // A real FreeSWITCH survives, and records until the node is back.
      expect(recording?.length).to.be.within(500, REAL_MEDIA ? performance.now() - answered + 500 : 4000);
      const file = await fetch(`${node.base}${RECORDINGS}/${recording?.id}/file`, { headers: again.authorization });
      const wav = Buffer.from(await file.arrayBuffer());
      expect(wav.length).to.equal(recording?.size);
      expect(wav.readUInt32LE(40), 'octets of sound in the header').to.equal(wav.length - 44);
      again.close();
    } finally {
      for (const phone of phones) await phone.stop();
      await node.remove();
    }
  });
});
