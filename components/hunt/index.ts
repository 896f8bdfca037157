import { Type } from 'typebox';
import {
  type ComponentContext,
  defineComponent,
  ownCall,
  ownCallTo,
  type PreAnswer,
  type Transfer,
} from '../../runtime/runs/index.ts';
import { Duration, parseDuration } from '../../runtime/language/index.ts';
import { PRE_ANSWER_DOCS, preAnswerOf, preAnswerSettings } from '../pre-answer.ts';
import { checkRinging, RINGING_DOCS, ringingOf, ringingSettings, UNANSWERED_DOCS } from '../ringing.ts';
import { ANSWER_RESULTS, answerFields, answerOf, follow } from '../answers.ts';

interface HuntSettings {
  readonly members: readonly string[];
  readonly timeout: string;
  readonly ringing: Awaited<ReturnType<typeof ringingOf>>;
  readonly binding: string;
  readonly preAnswer: { readonly preAnswer?: PreAnswer };
}

export const hunt = defineComponent({
  name: 'hunt',
  summary: 'Transfers the other party to one of several numbers: a hunt group.',
  otherNames: ['ring_group', 'hunt_group', 'group', 'ring_all'],
  docs: [
    '`in_order` rings the members one after another. `least_recent` does the same, beginning with the member whose last call from',
    'a hunt group is longest ago. `all_at_once` rings all together. The first to answer has the call.',
    ...RINGING_DOCS,
    ...PRE_ANSWER_DOCS,
    'With `all_at_once` the other phones ring on meanwhile, and several parties may be asked at the same time: the first to',
    'accept has the call. A mailbox that picks up at once takes it from nobody.',
    ...UNANSWERED_DOCS,
  ].join('\n'),
  settings: Type.Object({
    members: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
      minItems: 1,
      maxItems: 50,
      examples: [['101', '102']],
      description: 'Numbers.',
    }),
    strategy: Type.Enum(['in_order', 'least_recent', 'all_at_once'], {
      default: 'in_order',
      description: 'Order of ringing.',
    }),
    timeout: Duration({ default: '20s', examples: ['20s'], description: 'How long each member may ring.' }),
    rounds: Type.Integer({ minimum: 1, maximum: 20, default: 1, description: 'How often all are tried.' }),
    ...ringingSettings,
    binding: Type.String({ maxLength: 256, default: '', description: 'Label attached to the new call.' }),
    ...preAnswerSettings,
  }),
  shorthand: 'members',
  startsScenario: { scenario: 'pre_answer', args: 'pre_answer_args' },
  exits: {
    answered: { call: 'over', description: 'A member answered; the scenario has no call any more.', otherwise: 'end' },
    failed: { description: 'Nobody took the call; the other party is back.' },
  },
  results: {
    ...ANSWER_RESULTS,
    member: { type: 'string', description: 'The member that answered, else the last one tried.' },
    tried: { type: 'integer', description: 'How often a member was tried.' },
  },
  waits: true,
  needsCall: 'any',
  subject: 'members',
  check: (settings, _exits, given) => checkRinging(given, settings),
  run: async (context, { strategy, rounds, ...rest }) => {
    const settings = { ...rest, preAnswer: await preAnswerOf(context, rest), ringing: await ringingOf(context, rest) };
    context.signal.throwIfAborted();
    let tried = 0;
    for (let round = 1; ; round += 1) {
      const attempt = strategy === 'all_at_once' ? ringAll : ringEach;
      const found = await attempt(context, ordered(context, strategy, settings), (count) => (tried += count));
      const over = found.answered || round === rounds || !waits(context);
      if (over) return { exit: found.answered ? 'answered' : 'failed', fields: { ...found.fields, tried } };
    }
  },
});

type Found = { readonly answered: boolean; readonly fields: Record<string, string | number> };

/** Whether the other party is still there. */
function waits({ call: { state } }: ComponentContext): boolean {
  return state === 'connected' || state === 'incoming';
}

function ordered({ services, domain }: ComponentContext, strategy: string, settings: HuntSettings): HuntSettings {
  if (strategy !== 'least_recent') return settings;
  const { huntHistory } = services;
  const members = settings.members.toSorted((a, b) => huntHistory.last(domain, a) - huntHistory.last(domain, b));
  return { ...settings, members };
}

async function ringEach(context: ComponentContext, settings: HuntSettings, count: (n: number) => void): Promise<Found> {
  let found: Found = { answered: false, fields: {} };
  for (const member of settings.members) {
    count(1);
    const transfer = ownCall(context.call, 'refer').refer({ to: member, ...options(settings) });
    found = await outcome(context, transfer, member, Promise.resolve(member));
    // A caller that hung up meanwhile is not transferred.
    if (found.answered || !waits(context)) return found;
  }
  return found;
}

async function ringAll(context: ComponentContext, settings: HuntSettings, count: (n: number) => void): Promise<Found> {
  count(settings.members.length);
  const transfer = ownCallTo(context.call, 'ring several numbers at once').referToFirst(
    settings.members,
    options(settings),
  );
  return outcome(context, transfer, settings.members.join(' '), transfer.answeredBy);
}

async function outcome(
  context: ComponentContext,
  transfer: Transfer,
  who: string,
  answeredBy: Promise<string | undefined>,
): Promise<Found> {
  const { acallid: callid, dialogid, provisional, final } = transfer;
  const attempt = { callid, dialogid, provisional, final };
  follow(context, attempt, who, undefined);
  const answer = await answerOf(final, context, transfer);
  context.signal.throwIfAborted();
  const answered = answer.status < 300;
  const member = (await answeredBy) ?? who;
  if (answered) context.services.huntHistory.note(context.domain, member, context.clock.now());
  return { answered, fields: { ...(answerFields(attempt, answer) as Record<string, string | number>), member } };
}

function options({ timeout, ringing, binding, preAnswer }: HuntSettings) {
  return { ...preAnswer, timeoutMs: parseDuration(timeout) ?? 0, ...ringing, ...(binding === '' ? {} : { binding }) };
}
