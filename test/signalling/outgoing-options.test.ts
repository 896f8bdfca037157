import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { sendOutgoingOptions } from '../../runtime/signalling/outgoing-options.ts';
import type { Srf } from '../../runtime/signalling/srf-types.ts';

type Sent = (err: unknown, req?: EventEmitter) => void;

/** An application object whose requests a test answers. */
function srf(request: (uri: string, options: object, sent: Sent) => void): Srf {
  return { request } as unknown as Srf;
}

const TO = { uri: 'sip:192.0.2.1:5060', from: '<sip:operator.example>' };

describe('outgoing OPTIONS', () => {
  it('settle with the final answer of the far end', async () => {
    const answering = srf((_uri, options, sent) => {
      expect(options).to.deep.include({ method: 'OPTIONS' });
      const request = new EventEmitter();
      sent(undefined, request);
      request.emit('response', { status: 100, reason: 'Trying', source_address: '192.0.2.1' });
      request.emit('response', { status: 404, reason: 'Not Found', source_address: '192.0.2.1' });
    });
    expect(await sendOutgoingOptions(answering, TO)).to.include({ status: 404, local: false });
  });

  it('are 408 after five seconds without an answer', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const answer = sendOutgoingOptions(
        srf((_uri, _options, sent) => sent(undefined, new EventEmitter())),
        TO,
      );
      mock.timers.tick(5_000);
      expect(await answer).to.include({ status: 408, local: true });
    } finally {
      mock.timers.reset();
    }
  });

  it('are 503 when they cannot be sent', async () => {
    const refused = srf((_uri, _options, sent) => sent(new Error('no socket')));
    expect(await sendOutgoingOptions(refused, TO)).to.include({ status: 503, local: true, reason: 'no socket' });
    const away = srf(() => {
      throw new Error('not connected');
    });
    expect(await sendOutgoingOptions(away, TO)).to.include({ status: 503, local: true });
  });
});
