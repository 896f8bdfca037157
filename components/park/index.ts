import { Type } from 'typebox';
import { defineComponent } from '../../runtime/runs/index.ts';
import { Duration, ScenarioError, Sounds } from '../../runtime/language/index.ts';
import { MELODY } from '../hold_music/index.ts';
import { withinTime } from '../within-time.ts';

export const park = defineComponent({
  name: 'park',
  summary: 'Parks the other party in a slot, with music, until somebody retrieves it.',
  otherNames: ['hold_call'],
  docs: [
    '`retrieve` gets the party out, in a scenario that another phone calls: the example `retrieve`, dialled as `506`,',
    'asks for the slot. The retrieving phone has to know the slot: give one by `slot`, or take it from the event. A party',
    'that was retrieved is gone: the scenario has no call any more.',
  ].join('\n'),
  settings: Type.Object({
    slot: Type.String({
      pattern: '^[A-Za-z0-9_-]{0,32}$',
      default: '',
      examples: ['701'],
      description: 'The slot; empty: the first free one from 701 to 799.',
    }),
    timeout: Duration({ default: '5m', examples: ['5m'], description: 'How long it waits.' }),
    sounds: Sounds({ default: MELODY, examples: ['music.wav'], description: 'Played over and over.' }),
    event: Type.String({
      maxLength: 64,
      default: 'call_parked',
      description: 'Event of the domain that reports it, with `slot` and `number`; empty: none.',
    }),
  }),
  shorthand: 'slot',
  exits: {
    retrieved: {
      call: 'over',
      description: 'A phone retrieved it; the scenario has no call any more.',
      otherwise: 'end',
    },
    timeout: { description: 'Nobody came in time; the other party is back.' },
  },
  results: { slot: { type: 'string', description: 'Where it waited.' } },
  waits: true,
  needsCall: 'connected',
  run: async (context, { slot: wanted, timeout, sounds, event }) => {
    const { call, clock, domain, services, claimEnd, result, run } = context;
    const { parking, events } = services;
    const side = call.opponentSide;
    const { dialogid } = call;
    if (side === undefined || dialogid === undefined) throw new ScenarioError('call_state', 'there is nobody to park');
    const number = call.opponent?.number ?? '';
    const sources = await context.sounds(sounds);
    const slot = await parking.park(domain, wanted === '' ? undefined : wanted, {
      dialogid,
      side,
      number,
      since: clock.now(),
    });
    if (slot === undefined)
      throw new ScenarioError('slot_taken', wanted === '' ? 'every slot is taken' : `the slot ${wanted} is taken`);
    result({ slot });
    claimEnd(({ by }) => by === 'taken');
    try {
      if (event !== '') {
        const data = { slot, number, run };
        events?.publish({ domain, class: 'scenarioevents', type: event, data });
      }
      await withinTime(context, timeout, (signal) => call.play(sources, { signal, repeat: Infinity }));
      return { exit: 'timeout', fields: { slot } };
    } catch (error) {
      if (call.endSignal.aborted && !context.signal.aborted) return { exit: 'retrieved', fields: { slot } };
      throw error;
    } finally {
      parking.leave(domain, slot);
    }
  },
});
