import { expect } from 'chai';
import type { PhoneCall } from '../../phones/phone-call.ts';
import type { Phone } from '../../phones/phone.ts';
import type { RestAnswer } from '../../phones/rest-client.ts';
import { eventually } from '../../support/eventually.ts';
import { type Stage, useStage } from '../../support/stage.ts';

export const ALL_CONFERENCES = '/rest/v1/uc/conferences';
export const OWN_CONFERENCES = '/rest/v1/uc/conferences_by_participation';

export interface Conference {
  readonly confid: string;
  readonly confroomnum: string;
  readonly confnumber: string;
  readonly uri: string;
  readonly site: string;
  readonly startts: number;
  readonly uris: readonly string[];
}

/** The fields of a participant: of the last two a list without a mask has none. */
export const PARTICIPANT = 'participantid,state,callid,luri,ltag,ruri,rtag,moderator,talking';

export interface Participant {
  readonly participantid: string;
  readonly state: string;
  readonly callid: string;
  readonly luri: string;
  readonly ltag: string;
  readonly ruri: string;
  readonly rtag: string;
  readonly moderator: boolean;
  readonly talking: boolean;
}

export interface TopologyEntry {
  readonly from: string;
  readonly to: string;
  readonly enabled: boolean;
}

/** Tones of the participants in Hz, far enough apart to be recognised in a mix. */
export const TONES = [420, 610, 830, 1070, 1310, 1570, 1850, 2150] as const;

/** Conferences as phones and REST callers see them. */
export class Rooms {
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  /** `phone` dials a room, is answered, and plays its tone. */
  async enter(phone: Phone, number: string, tone?: number): Promise<PhoneCall> {
    const call = await phone.call(number);
    await call.answered();
    call.play(tone);
    return call;
  }

  async list(login = 'admin', base = ALL_CONFERENCES): Promise<Conference[]> {
    const answer = await this.ask('GET', '', undefined, login, base);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Conference[]>();
  }

  /** The only live conference, once it has `size` participants. */
  async only(size?: number): Promise<Conference> {
    return eventually(async () => {
      const [conference, ...others] = await this.list();
      expect(others).to.deep.equal([]);
      if (conference === undefined) throw new Error('there is no conference');
      if (size !== undefined) {
        const connected = (await this.participants(conference)).filter(({ state }) => state === 'connected');
        expect(connected).to.have.length(size);
      }
      return conference;
    });
  }

  async participants({ confid }: Pick<Conference, 'confid'>): Promise<Participant[]> {
    const answer = await this.ask('GET', `/${confid}/participants?mask=${PARTICIPANT}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Participant[]>();
  }

  /** The participant whose URI has this user part. */
  async participant(conference: Pick<Conference, 'confid'>, user: string): Promise<Participant> {
    const all = await this.participants(conference);
    const found = all.find(({ ruri }) => ruri.startsWith(`<sip:${user}@`));
    if (found === undefined) throw new Error(`no participant ${user} among ${JSON.stringify(all)}`);
    return found;
  }

  async topology(confid: string, commands: readonly TopologyEntry[]): Promise<TopologyEntry[]> {
    const answer = await this.ask('POST', `/${confid}/topology`, commands);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<TopologyEntry[]>();
  }

  /** A request below the collection of conferences. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    login = 'admin',
    base = ALL_CONFERENCES,
  ): Promise<RestAnswer> {
    const rest = await this.stage.rest(login);
    return rest.send(method, base + path, body === undefined ? {} : { body });
  }

  /** No conference is left in the node or in its media server. */
  async expectNothing(): Promise<void> {
    await eventually(async () => {
      expect(await this.list()).to.deep.equal([]);
      const { counts } = await this.stage.node.health();
      expect(counts['conferences']).to.equal(0);
    });
  }
}

/** The stage with its rooms; checks after every test that no conference is left. */
export function useRooms(options: { ownNode?: boolean; env?: Readonly<Record<string, string>> } = {}): {
  readonly stage: Stage;
  readonly rooms: Rooms;
} {
  const stage = useStage(options);
  const rooms = new Rooms(stage);
  afterEach('no conference is left', () => rooms.expectNothing());
  return { stage, rooms };
}
