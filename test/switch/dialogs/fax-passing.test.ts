import { expect } from 'chai';
import type { MediaEndpoint } from '../../../runtime/media/index.ts';
import { ReinviteRefused } from '../../../runtime/signalling/index.ts';
import { FaxPassing, type FaxParty } from '../../../runtime/switch/dialogs/fax-passing.ts';

const SESSION = 'v=0\r\no=- 1 1 IN IP4 10.0.0.1\r\ns=-\r\nc=IN IP4 10.0.0.1\r\nt=0 0\r\n';
const FAX = `${SESSION}m=audio 0 RTP/AVP 0\r\nm=image 4000 udptl t38\r\na=T38FaxVersion:0\r\n`;
const FAX_ANSWER = `${SESSION}m=image 5000 udptl t38\r\na=T38FaxVersion:2\r\n`;
const SOUND = `${SESSION}m=audio 4000 RTP/AVP 0\r\n`;
const OK = { status: 200, sdp: SOUND } as const;

/** A party whose phone answers by hand. */
class Script implements FaxParty {
  readonly leg = {};
  readonly offers: string[] = [];
  readonly did: string[] = [];
  readonly phone: FaxParty['phone'];
  /** Its endpoint continues on another channel. */
  readonly renew: () => void;
  #answers: PromiseWithResolvers<string>[] = [];

  constructor(passesFaxes = true, fails = false) {
    const localSdp = `${SESSION}m=audio 6000 RTP/AVP 8\r\na=rtpmap:8 PCMA/8000\r\n`;
    const endpoint = {
      uuid: 'first',
      passesFaxes,
      localSdp,
      faxed: () => {
        if (fails) throw new Error('no fax');
        this.did.push('fax');
      },
      passFax: async (_sdp: string, other: { readonly endpoint: { readonly faxed: () => void } }) => {
        endpoint.faxed();
        other.endpoint.faxed();
      },
      offerSound: async (renegotiate: (offer: string) => Promise<string>) => {
        await renegotiate(localSdp);
        this.did.push('sound');
      },
      soundAgain: async () => this.did.push('sound again'),
    };
    this.renew = () => {
      endpoint.uuid = 'second';
    };
    this.phone = {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what faxes use of an endpoint
      endpoint: endpoint as unknown as MediaEndpoint,
      offer: (sdp) => {
        this.offers.push(sdp);
        const answer = Promise.withResolvers<string>();
        this.#answers.push(answer);
        return answer.promise;
      },
      describe: (sdp) => sdp,
      failed: () => this.did.push('failed'),
    };
  }

  answer(sdp: string): void {
    this.#answers.shift()?.resolve(sdp);
  }

  refuse(status: number): void {
    this.#answers.shift()?.reject(new ReinviteRefused(status));
  }
}

/** Lets all that is due happen. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('passing of faxes', () => {
  const sound = () => Promise.resolve(OK);
  let rejoined = 0;
  const rejoin = async () => {
    rejoined += 1;
  };

  beforeEach(() => {
    rejoined = 0;
  });

  async function faxing(a: Script, b: Script): Promise<FaxPassing> {
    const faxes = new FaxPassing(rejoin);
    const offered = faxes.offered(a, b, FAX, sound);
    b.answer(FAX_ANSWER);
    expect((await offered)?.status).to.equal(200);
    return faxes;
  }

  it('offers the other phone the fax at its own port, and answers each stream of the offer', async () => {
    const [a, b] = [new Script(), new Script()];
    const offered = new FaxPassing(rejoin).offered(a, b, FAX, sound);
    expect(b.offers).to.deep.equal([`${SESSION}m=image 6000 udptl t38\r\na=T38FaxVersion:0\r\n`]);
    b.answer(FAX_ANSWER);
    expect(await offered).to.deep.equal({
      status: 200,
      sdp: `${SESSION}m=audio 0 RTP/AVP 0\r\nm=image 6000 udptl t38\r\na=T38FaxVersion:2\r\n`,
    });
    expect([a.did, b.did]).to.deep.equal([['fax'], ['fax']]);
  });

  it('takes an offer of sound and a fax as one of sound', () => {
    const both = `${SOUND}m=image 4000 udptl t38\r\n`;
    expect(new FaxPassing(rejoin).offered(new Script(), new Script(), both, sound)).to.equal(undefined);
  });

  it('keeps the number of streams when a phone that offered two gets sound again', async () => {
    const [a, b] = [new Script(), new Script()];
    const faxes = await faxing(a, b);
    const back = faxes.offered(b, a, SOUND, sound);
    expect(a.offers[0]?.match(/^m=.*/gm)).to.deep.equal(['m=audio 6000 RTP/AVP 8', 'm=image 0 udptl t38']);
    a.answer(SOUND);
    expect(await back).to.equal(OK);
  });

  it('answers 488 in time to a phone whose peer does not answer; one that accepts later gets sound', async () => {
    const [a, b] = [new Script(), new Script()];
    const faxes = new FaxPassing(rejoin, 1);
    expect(await faxes.offered(a, b, FAX, sound)).to.deep.equal({ status: 488 });
    expect(await faxes.offered(a, b, FAX, sound), 'while that answer is due').to.deep.equal({ status: 488 });
    expect(faxes.offered(a, b, SOUND, sound)).to.equal(undefined);
    b.answer(FAX_ANSWER);
    await turn();
    expect(b.offers).to.have.length(2);
    b.answer(SOUND);
    await turn();
    expect([a.did, b.did]).to.deep.equal([[], ['sound']]);
    const again = faxes.offered(a, b, FAX, sound);
    b.answer(FAX_ANSWER);
    expect((await again)?.status).to.equal(200);
  });

  it('needs nothing of a phone that refuses late', async () => {
    const [a, b] = [new Script(), new Script()];
    const faxes = new FaxPassing(rejoin, 1);
    await faxes.offered(a, b, FAX, sound);
    b.refuse(488);
    await turn();
    expect(b.offers).to.have.length(1);
    void faxes.offered(a, b, FAX, sound);
    expect(b.offers).to.have.length(2);
    faxes.over();
  });

  it('connects the sound again where it goes on in other channels, and only there', async () => {
    const [a, b] = [new Script(), new Script()];
    for (const renewed of [false, true]) {
      const faxes = await faxing(a, b);
      const back = faxes.offered(a, b, SOUND, async () => {
        if (renewed) a.renew();
        return OK;
      });
      b.answer(SOUND);
      expect(await back).to.equal(OK);
      expect(rejoined).to.equal(renewed ? 1 : 0);
    }
  });

  it('answers 491 to both while one is asked', async () => {
    const [a, b] = [new Script(), new Script()];
    const faxes = new FaxPassing(rejoin);
    void faxes.offered(a, b, FAX, sound);
    expect(await faxes.offered(b, a, FAX, sound)).to.deep.equal({ status: 491 });
    expect(await faxes.offered(a, b, SOUND, sound)).to.deep.equal({ status: 491 });
    faxes.over();
  });

  it('gives both sound again when the media server fails', async () => {
    const [a, b] = [new Script(), new Script(true, true)];
    const faxes = new FaxPassing(rejoin);
    const offered = faxes.offered(a, b, FAX, sound);
    b.answer(FAX_ANSWER);
    await turn();
    b.answer(SOUND);
    expect(await offered).to.deep.equal({ status: 488 });
    expect([a.did, b.did]).to.deep.equal([['fax', 'failed', 'sound again'], ['sound']]);
  });

  it('asks nobody when the media server of one passes on no faxes', async () => {
    for (const [one, other] of [
      [true, false],
      [false, true],
    ]) {
      const [a, b] = [new Script(one), new Script(other)];
      expect(await new FaxPassing(rejoin).offered(a, b, FAX, sound)).to.deep.equal({ status: 488 });
      expect(b.offers).to.deep.equal([]);
    }
  });

  it('gives both sound again before the call parts them', async () => {
    const [a, b] = [new Script(), new Script()];
    const faxes = await faxing(a, b);
    const ended = faxes.end();
    await turn();
    a.answer(SOUND);
    b.refuse(488);
    await ended;
    expect([a.did, b.did]).to.deep.equal([['fax', 'sound'], ['fax']]);
    expect(faxes.offered(a, b, SOUND, sound)).to.equal(undefined);
  });

  it('refuses the offer when the call parts the two before the answer', async () => {
    const [a, b] = [new Script(), new Script()];
    const faxes = new FaxPassing(rejoin);
    const offered = faxes.offered(a, b, FAX, sound);
    await faxes.end();
    expect(await offered).to.deep.equal({ status: 488 });
    b.answer(FAX_ANSWER);
    await turn();
    expect(b.offers).to.have.length(2);
  });

  it('asks nobody when the offer is cancelled already', async () => {
    const [a, b] = [new Script(), new Script()];
    const faxes = new FaxPassing(rejoin);
    expect(await faxes.offered(a, b, FAX, sound, AbortSignal.abort())).to.deep.equal({ status: 488 });
    expect(b.offers).to.deep.equal([]);
    const again = faxes.offered(a, b, FAX, sound);
    b.answer(FAX_ANSWER);
    expect((await again)?.status).to.equal(200);
  });

  it('waits for nobody once the call is over', async () => {
    const [a, b] = [new Script(), new Script()];
    const faxes = new FaxPassing(rejoin);
    const offered = faxes.offered(a, b, FAX, sound);
    faxes.over();
    expect(await offered).to.deep.equal({ status: 488 });
    const others = await faxing(a, new Script());
    const back = others.offered(a, b, SOUND, sound);
    others.over();
    expect((await back)?.status).to.equal(488);
  });
});
