import { expect } from 'chai';
import type { RestClient } from '../../phones/rest-client.ts';
import { eventually } from '../../support/eventually.ts';
import { TestNode } from '../../support/node.ts';
import { Casting } from './cast.ts';
import { INVITE_ANSWERS, INVITE_PLAYS } from './invite.ts';
import { INVITEBYIVR_ANSWERS, INVITEBYIVR_PLAYS } from './invitebyivr.ts';
import { REFER_ANSWERS, REFER_PLAYS } from './refer.ts';
import { REFERCONF_ANSWERS, REFERCONF_PLAYS, SMALL_ROOM } from './referconf.ts';
import { REFERREPLACES_ANSWERS, REFERREPLACES_PLAYS } from './referreplaces.ts';
import { type Answers, type Mode, MODES, type Play, Scene } from './scene.ts';
import { SWITCHCONF_ANSWERS, SWITCHCONF_PLAYS } from './switchconf.ts';

interface Operation {
  readonly name: string;
  readonly modes: readonly Mode[];
  readonly answers: Answers;
  readonly plays: Readonly<Record<string, Play>>;
}

export const OPERATIONS: readonly Operation[] = [
  { name: 'POST', modes: MODES, answers: INVITE_ANSWERS, plays: INVITE_PLAYS },
  { name: 'INVITEBYIVR', modes: [0, 1, 2], answers: INVITEBYIVR_ANSWERS, plays: INVITEBYIVR_PLAYS },
  { name: 'REFER', modes: MODES, answers: REFER_ANSWERS, plays: REFER_PLAYS },
  { name: 'REFERREPLACES', modes: MODES, answers: REFERREPLACES_ANSWERS, plays: REFERREPLACES_PLAYS },
  { name: 'SWITCHCONF', modes: MODES, answers: SWITCHCONF_ANSWERS, plays: SWITCHCONF_PLAYS },
  { name: 'REFERCONF', modes: MODES, answers: REFERCONF_ANSWERS, plays: REFERCONF_PLAYS },
];

/** Concurrent rows: they mostly wait, and share no accounts. */
const AT_A_TIME = 6;

interface Row {
  readonly play: () => Promise<void>;
  readonly done: PromiseWithResolvers<void>;
  started: boolean;
}

/**
 * Every operation in every response mode with everything that its parties may do (specification, "Response modes" and
 * "Result values"): one node, each row with accounts of its own, several rows at a time.
 */
export function playTable(operations: readonly Operation[]): void {
  let node: TestNode;
  let rest: RestClient;
  let casting: Casting;
  const rows: Row[] = [];

  before('start a node and make the accounts', async function () {
    this.timeout(90_000);
    node = await TestNode.start();
    rest = await node.login();
    casting = new Casting(node);
    await casting.make(rest, rows.length * 3);
    const opts = { max_members: 2 };
    const room = { prefix: SMALL_ROOM, type: 'conference', opts };
    const answer = await rest.send('POST', '/rest/v1/domain/featurecodes', { body: room });
    expect(answer.status, answer.text).to.equal(200);
  });
  after('stop the node', async () => {
    rest.close();
    await node.remove();
  });

  for (const { name, modes, answers, plays } of operations) {
    describe(name, () => {
      for (const [what, play] of Object.entries(plays)) {
        for (const mode of modes) {
          const row: Row = {
            done: Promise.withResolvers<void>(),
            started: false,
            play: async () => {
              const scene = await Scene.set(casting, rest, mode, answers);
              try {
                await play(scene);
                await scene.expectNothingLeft();
              } catch (error) {
                if (error instanceof Error) error.stack = `${error.stack}\n${scene.traces()}`;
                throw error;
              } finally {
                await scene.clear();
              }
            },
          };
          row.done.promise.catch(() => undefined);
          rows.push(row);
          it(`${what}, mode ${mode}`, async function () {
            this.timeout(120_000);
            playFrom(rows, rows.indexOf(row));
            await row.done.promise;
          });
        }
      }
    });
  }

  // In a suite of its own, or it would run first.
  describe('after all operations', () => {
    it('no dialog, conference, endpoint, run or recording is left', async () => {
      await eventually(async () => {
        const { counts } = await node.health();
        expect(counts).to.include({ dialogs: 0, conferences: 0, endpoints: 0, runs: 0, recordings: 0 });
      });
    });
  });
}

/** Starts a row and the following ones that have not started: a row mostly waits. */
function playFrom(rows: readonly Row[], index: number): void {
  for (const row of rows.slice(index, index + AT_A_TIME)) {
    if (row.started) continue;
    row.started = true;
    void row.play().then(row.done.resolve, row.done.reject);
  }
}
