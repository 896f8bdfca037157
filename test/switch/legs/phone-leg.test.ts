import { expect } from 'chai';
import { asDomainName } from '../../../runtime/domain-name/index.ts';
import type { MediaEndpoint } from '../../../runtime/media/endpoint.ts';
import { MediaError } from '../../../runtime/media/media-error.ts';
import type { IncomingInvite } from '../../../runtime/signalling/incoming-invite.ts';
import type { SipDialog } from '../../../runtime/signalling/sip-dialog.ts';
import type { EndCause } from '../../../runtime/switch/legs/leg.ts';
import { PhoneLeg } from '../../../runtime/switch/legs/phone-leg.ts';
import {
  PHONE_LEG_TRANSITIONS,
  type PhoneLegEvent,
  type PhoneLegState,
} from '../../../runtime/switch/legs/phone-leg-state.ts';
import { type ExpectedTransitions, itFollows } from '../../support/transitions.ts';

const EXPECTED: ExpectedTransitions<PhoneLegState, PhoneLegEvent> = {
  ringing: { accept: 'answering', accepted: '-', over: 'ended' },
  answering: { accept: '-', accepted: 'answered', over: 'ended' },
  answered: { accept: '-', accepted: '-', over: 'ended' },
  ended: { accept: '-', accepted: '-', over: '-' },
};

const BUSY: EndCause = { by: 'failure', status: 486, reason: 'Busy Here' };

/** A caller's leg, and the SIP messages that its phone would see. */
class Caller {
  readonly sent: string[] = [];
  /** Settles when the caller has our 200. */
  readonly accepted = Promise.withResolvers<SipDialog>();
  /** Settles when our 200 is on its way. */
  readonly accepting = Promise.withResolvers<void>();
  readonly cancelled = new AbortController();
  ended: ((reason: string) => void) | undefined;
  readonly ends: string[] = [];
  readonly leg: PhoneLeg;

  constructor() {
    const endpoint = { localSdp: 'v=0', gone: new AbortController().signal, destroy: () => Promise.resolve() };
    const invite = {
      callId: 'caller',
      sdp: 'v=0',
      source: { address: '192.0.2.1' },
      cancelled: this.cancelled.signal,
      header: () => undefined,
      progress: () => this.sent.push('180'),
      reject: (status: number) => this.sent.push(String(status)),
      accept: () => {
        this.sent.push('200');
        this.accepting.resolve();
        return this.accepted.promise;
      },
    };
    this.leg = PhoneLeg.incoming(
      {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only parts of it that a leg without sound needs
        createEndpoint: () => Promise.resolve(endpoint as unknown as MediaEndpoint),
        log: { warn: (details) => expect.fail(JSON.stringify(details)) },
        directory: { domain: () => undefined },
        failed: (error) => expect.fail(String(error)),
        background: () => undefined,
        refer: () => ({ status: 603 }),
      },
      { kind: 'unknown', domain: asDomainName('example.test'), number: '101' },
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of it that a leg asks
      invite as unknown as IncomingInvite,
    );
    this.leg.owner = {
      legEnded: (_, reason) => this.ends.push(reason),
      legHeld: () => Promise.resolve(),
      legRemoved: () => undefined,
    };
  }

  /** The SIP dialog with the caller is there. */
  accept(): void {
    const sip = {
      handle: ({ ended }: { ended(reason: string): void }) => (this.ended = ended),
      bye: () => {
        this.sent.push('BYE');
        return Promise.resolve();
      },
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of it that a leg asks
    this.accepted.resolve(sip as unknown as SipDialog);
  }

  static async answering(): Promise<{ caller: Caller; answered: Promise<number> }> {
    const caller = new Caller();
    const answered = statusOf(caller.leg.answered());
    await caller.accepting.promise;
    return { caller, answered };
  }

  static async answered(): Promise<Caller> {
    const { caller, answered } = await Caller.answering();
    caller.accept();
    expect(await answered).to.equal(200);
    return caller;
  }
}

function statusOf(answered: Promise<void>): Promise<number> {
  return answered.then(
    () => 200,
    (error: unknown) => (error instanceof MediaError ? error.status : 500),
  );
}

describe("transition table of a phone's leg", () => {
  itFollows(PHONE_LEG_TRANSITIONS, EXPECTED);
});

describe("a caller's leg", () => {
  it('sends 180 Ringing only before it is answered', async () => {
    const { caller, answered } = await Caller.answering();
    caller.leg.ring();
    caller.accept();
    await answered;
    caller.leg.ring();
    expect(caller.sent).to.deep.equal(['200']);
    const other = new Caller();
    other.leg.ring();
    expect(other.sent).to.deep.equal(['180']);
  });

  it('refuses the INVITE once when it is released before the answer', () => {
    const { leg, sent } = new Caller();
    leg.release(BUSY);
    leg.release(BUSY);
    expect(leg.ended).to.equal(true);
    expect(sent).to.deep.equal(['486']);
  });

  it('sends BYE once when it is released after the answer', async () => {
    const { leg, sent } = await Caller.answered();
    leg.release(BUSY);
    leg.release(BUSY);
    expect(sent).to.deep.equal(['200', 'BYE']);
  });

  it('sends BYE after its 200 when it is released between them', async () => {
    const { caller, answered } = await Caller.answering();
    caller.leg.release(BUSY);
    expect(caller.sent).to.deep.equal(['200']);
    caller.accept();
    expect(await answered).to.equal(487);
    expect(caller.sent).to.deep.equal(['200', 'BYE']);
  });

  it('answers once: a concurrent second answer waits for the first, a later one changes nothing', async () => {
    const { caller, answered } = await Caller.answering();
    const second = statusOf(caller.leg.answered());
    caller.accept();
    expect([await answered, await second]).to.deep.equal([200, 200]);
    expect(await statusOf(caller.leg.answered())).to.equal(200);
    expect(caller.sent).to.deep.equal(['200']);
  });

  it('is not answered after CANCEL', async () => {
    const { leg, sent, cancelled, ends } = new Caller();
    cancelled.abort();
    expect(ends).to.deep.equal(['CANCEL']);
    expect(await statusOf(leg.answered())).to.equal(487);
    expect(sent).to.deep.equal([]);
  });

  it('reports a BYE to its owner once, and sends none itself', async () => {
    const caller = await Caller.answered();
    caller.ended?.('BYE');
    caller.ended?.('BYE');
    caller.leg.release(BUSY);
    expect(caller.ends).to.deep.equal(['BYE']);
    expect(caller.sent).to.deep.equal(['200']);
  });
});
