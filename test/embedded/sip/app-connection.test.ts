import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { AppConnection } from '../../../runtime/embedded/sip/app-connection.ts';
import { segmentsOf } from '../../support/segments.ts';

describe('embedded SIP server: the connection of an application', () => {
  it('carries up to eight frames of one turn in one segment', async () => {
    const { socket, segments } = segmentsOf();
    const events = { command: () => undefined, closed: () => undefined };
    const app = new AppConnection(Object.assign(socket, { setNoDelay: () => socket }) as unknown as Socket, events);
    app.send('one');
    await new Promise<void>((resolve) => process.nextTick(resolve));
    app.send('two');
    expect(segments).to.deep.equal([]);
    await turn();
    app.send('three');
    await turn();
    for (let frame = 1; frame <= 10; frame += 1) app.send(String.fromCharCode(64 + frame));
    expect(segments).to.have.length(3);
    await turn();
    app.destroy();
    expect(segments.map((segment) => segment.replaceAll(/\d+#/g, ''))).to.deep.equal([
      'onetwo',
      'three',
      'ABCDEFGH',
      'IJ',
    ]);
  });
});
