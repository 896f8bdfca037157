import { startBench } from './support/fixture.ts';
import { RtpPhone } from './support/rtp-phone.ts';
it('x', async () => {
  const bench = await startBench();
  const phone = await RtpPhone.open();
  const ep = await bench.ms.createEndpoint({ remoteSdp: phone.sdp() });
  ep.on('dtmf', (d) => console.log('dtmf', d));
  const r = await ep.dialog.request(
    'INFO',
    { 'Content-Type': 'application/dtmf-relay' },
    'Signal=5\r\nDuration=160\r\n',
  );
  console.log(r.status);
  const plain = await bench.ms.createEndpoint({ remoteSdp: phone.sdp('sendrecv', '0') });
  plain.dialog.on('info', (m: any) => console.log('INFO', String(m.body)));
  console.log((await plain.api('uuid_send_dtmf', [plain.uuid, '7@100'])).getBody(), plain.dtmfType, plain.local.sdp);
  await new Promise((r) => setTimeout(r, 300));
  await bench.close();
});
