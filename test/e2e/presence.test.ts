import { expect } from 'chai';
import type { Phone } from '../phones/phone.ts';
import type { PhoneSubscription } from '../phones/phone-subscription.ts';
import { header, type SipResponse } from '../phones/sip/message.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';

const PATIENCE_MS = 15_000;
const TYPE = { name: 'Content-Type', value: 'application/pidf+xml' };

function document(basic: string, more = ''): string {
  return `<?xml version="1.0"?><presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:r="urn:ietf:params:xml:ns:pidf:rpid" entity="sip:102@demo.local"><tuple id="x"><status><basic>${basic}</basic></status>${more}</tuple></presence>`;
}

/** Publishes as `phone`; an empty body keeps the former state. */
async function publish(
  phone: Phone,
  body: string,
  { tag, expires = 600, target = '102' }: { tag?: string; expires?: number | string; target?: string } = {},
): Promise<SipResponse> {
  const match = tag === undefined ? [] : [{ name: 'SIP-If-Match', value: tag }];
  const headers = body === '' ? match : [TYPE, ...match];
  return phone.subscription(target, { event: 'presence', method: 'PUBLISH', expires, body, headers }).send();
}

/** The body of the first NOTIFY that matches; earlier ones have intermediate states. */
async function seen(subscription: PhoneSubscription, ...patterns: readonly RegExp[]): Promise<string> {
  for (;;) {
    const { body } = await subscription.notifies.next(PATIENCE_MS);
    if (patterns.every((pattern) => pattern.test(body))) return body;
  }
}

describe('presence', () => {
  const stage = useStage();

  it('is closed without a phone, open with one, on the phone in a call, and what the phone publishes', async () => {
    const alice = await stage.phone('alice');
    const subscription = alice.subscription('102', { event: 'presence', expires: 600 });
    expect((await subscription.send()).status).to.equal(200);
    await seen(subscription, /entity="sip:102@demo\.local"/, /<basic>closed<\/basic>/);
    const bob = await stage.phone('bob');
    await seen(subscription, /<basic>open<\/basic>/);
    const call = await bob.call('501');
    await call.answered();
    await seen(subscription, /<rpid:on-the-phone\/>/);
    await call.hangup();
    expect(await seen(subscription, /<basic>open<\/basic>/)).not.to.include('on-the-phone');

    const first = await publish(
      bob,
      document('closed', '<note>Lunch &amp; &lt;walk&gt;</note><r:activities><r:meal/><r:evil/></r:activities>'),
    );
    expect([first.status, header(first, 'expires')]).to.deep.equal([200, '600']);
    const shown = await seen(
      subscription,
      /<basic>closed<\/basic>/,
      /<note>Lunch &amp; &lt;walk&gt;<\/note>/,
      /<rpid:meal\/>/,
    );
    expect(shown).not.to.include('evil');
    const tag = header(first, 'sip-etag') ?? '';
    const kept = await publish(bob, '', { tag });
    expect(kept.status).to.equal(200);
    expect((await publish(bob, '', { tag })).status, 'an old tag').to.equal(412);
    expect((await publish(bob, '', { tag: header(kept, 'sip-etag') ?? '', expires: 0 })).status).to.equal(200);
    expect(await seen(subscription, /<basic>open<\/basic>/)).not.to.include('<note>');
    await subscription.send(0);
  });

  it('is published for oneself only, well-formed, and within bounds', async () => {
    const bob = await stage.phone('bob', { transport: 'tcp' });
    const cases: readonly (readonly [send: () => Promise<SipResponse>, status: number])[] = [
      [() => publish(bob, document('open'), { target: '103' }), 403],
      [() => publish(bob, document('open'), { target: '999' }), 404],
      [() => publish(bob, document('open'), { target: 'sip:102@other.example' }), 403],
      [() => publish(bob, ''), 400],
      [() => publish(bob, '<presence>'), 400],
      [() => publish(bob, document('maybe')), 400],
      [() => publish(bob, 'x'.repeat(5000)), 413],
      [() => publish(bob, document('open'), { expires: 5 }), 423],
      // drachtio-server answers it itself, and reads no more of that connection (docs/conformance.md).
      ...(REAL_SIP ? [] : [[() => publish(bob, document('open'), { expires: 'x' }), 400] as const]),
      [() => publish(bob, document('open'), { tag: 'unknown' }), 412],
      [() => bob.subscription('102', { event: 'dialog', method: 'PUBLISH', body: 'x', headers: [TYPE] }).send(), 489],
      [
        () =>
          bob
            .subscription('102', {
              event: 'presence',
              method: 'PUBLISH',
              body: 'x',
              headers: [{ name: 'Content-Type', value: 'text/plain' }],
            })
            .send(),
        415,
      ],
    ];
    for (const [at, [send, status]] of cases.entries()) expect((await send()).status, `case ${at}`).to.equal(status);
    const answers = await Promise.all(Array.from({ length: 12 }, () => publish(bob, document('open'))));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(10);
    expect(answers.filter(({ status }) => status === 403)).to.have.length(2);
    for (const each of answers)
      if (each.status === 200) await publish(bob, '', { tag: header(each, 'sip-etag') ?? '', expires: 0 });
  });
});

describe('the registration of a phone', () => {
  const stage = useStage();

  it('is told to its own sipuser, and to no other', async () => {
    const bob = await stage.phone('bob', { unregistered: true });
    const subscription = bob.subscription('102', { event: 'reg', expires: 600 });
    expect((await subscription.send()).status).to.equal(200);
    expect(await seen(subscription, /version="0" state="full"/))
      .to.include('aor="sip:102@demo.local"')
      .and.include('state="terminated"');
    await bob.register();
    await seen(subscription, /<registration [^>]*state="active"/, new RegExp(`<uri>${bob.contact}</uri>`));
    await bob.unregister();
    expect(await seen(subscription, /<registration [^>]*state="terminated"/)).not.to.include('<uri>');
    await subscription.send(0);
    expect((await bob.subscription('103', { event: 'reg' }).send()).status).to.equal(403);
  });
});
