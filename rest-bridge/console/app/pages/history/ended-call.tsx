/** One ended call: how it went, the sound of its legs, recordings, SIP messages. */
import { duration, moment, named } from '../../lib/format.ts';
import { link } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { LadderCard } from '../../parts/ladder.tsx';
import { NumberToCall, PartyToCall } from '../../parts/number.tsx';
import { Problem } from '../../parts/problem.tsx';
import { RecordingsCard } from '../../parts/recordings.tsx';
import type { CallScope } from '../../stores/call-scope.ts';
import { type EndedCall, type EndedLeg, type LegMedia, readEndedCall } from '../../stores/history.ts';
import { words } from '../../words/history.ts';
import { ResultBadge } from './result.tsx';

export interface EndedCallDetailProps {
  readonly scope: CallScope;
  readonly id: string;
  /** In place of the id. */
  readonly dialog?: string;
}

export function EndedCallDetail({ scope, id, dialog }: EndedCallDetailProps) {
  const live = useLive(() => readEndedCall(id, dialog, scope.history), id + (dialog ?? ''));
  const call = live.data;
  return (
    <div class="page">
      <div class="bar">
        <a href={link([scope.pages.history])}>← {words('title')}</a>
        <h1>
          {call === undefined
            ? words('call')
            : `${named(call.caller_name, call.caller_number)} → ${named(call.called_name, call.called_number ?? call.dialled)}`}
        </h1>
        {call !== undefined && <ResultBadge result={call.result} />}
      </div>
      <Problem error={live.problem} retry={live.reload} />
      {call !== undefined && (
        <>
          <div class="cards">
            <section class="card">
              <h2>{words('call')}</h2>
              <Facts facts={factsOf(call, scope)} />
            </section>
            {!scope.own && <RecordingsCard filter={{ inviteid: call.id }} />}
          </div>
          <Legs legs={call.legs} />
          {!scope.own && <LadderCard id={call.id} />}
        </>
      )}
    </div>
  );
}

function factsOf(call: EndedCall, scope: CallScope): Fact[] {
  const calls = (ids: readonly string[]) =>
    ids.map((id) => (
      <a key={id} class="item" href={link([scope.pages.history, id])}>
        {id}
      </a>
    ));
  return [
    [words('started'), moment(call.started)],
    [words('answeredAt'), call.answered === null ? '' : moment(call.answered)],
    [words('ended'), call.ended === null ? '' : moment(call.ended)],
    [words('rang'), call.ringing_ms === null ? '' : duration(call.ringing_ms)],
    [words('talked'), call.talking_ms === null ? '' : duration(call.talking_ms)],
    [words('direction'), call.direction],
    [words('dialled'), call.dialled !== null && <NumberToCall number={call.dialled} />],
    [words('status'), [call.sip_status, call.reason].filter(Boolean).join(' ')],
    [words('endedBy'), call.ended_by],
    [words('trunk'), call.trunk],
    [words('room'), call.room],
    [words('labels'), call.labels.join(', ')],
    [words('scenarios'), call.runs.map(({ scenario }) => scenario).join(', ')],
    [
      words('operation'),
      call.operation !== null && !scope.own && <a href={link(['operations', call.operation])}>{call.operation}</a>,
    ],
    [words('referredBy'), call.referred_by],
    [words('before'), call.replaced.length > 0 && calls(call.replaced)],
    [words('after'), call.replaced_by.length > 0 && calls(call.replaced_by)],
    [words('id'), <code>{call.id}</code>],
  ];
}

function Legs({ legs }: { readonly legs: readonly EndedLeg[] }) {
  return (
    <section class="card scroll" tabIndex={0} aria-label={words('legs')}>
      <h2>{words('legs')}</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">{words('party')}</th>
            <th scope="col">{words('status')}</th>
            <th scope="col">{words('codec')}</th>
            <th scope="col">{words('heardFrom')}</th>
            <th scope="col">{words('sentTo')}</th>
            <th scope="col" class="number">
              {words('mos')}
            </th>
          </tr>
        </thead>
        <tbody>
          {legs.map((leg) => (
            <tr key={leg.callid}>
              <td>
                {words(leg.side === 'a' ? 'caller' : 'called')}{' '}
                <strong>
                  <PartyToCall name={leg.name} number={leg.number} />
                </strong>
                <br />
                <code class="quiet">{leg.callid}</code>
              </td>
              <td>
                {leg.sip_status} {leg.reason}
              </td>
              <td>{leg.media?.codec}</td>
              <td>{leg.media !== null && flow(leg.media.packets_in, leg.media.lost_in, leg.media.jitter_ms_in)}</td>
              <td>{leg.media !== null && flow(leg.media.packets_out, leg.media.lost_out, leg.media.jitter_ms_out)}</td>
              <td class="number">{leg.media !== null && <Mos media={leg.media} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Packets, the lost share and the jitter. */
function flow(packets: number, lost: number | null, jitter: number | null): string {
  const share = lost === null ? undefined : (100 * lost) / Math.max(1, packets + lost);
  return [
    words('packets', { n: packets }),
    share === undefined ? undefined : words('lost', { share: share.toFixed(share < 1 ? 2 : 1) }),
    jitter === null ? undefined : words('jitter', { ms: jitter.toFixed(1) }),
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function Mos({ media: { mos_in } }: { readonly media: LegMedia }) {
  if (mos_in === null) return null;
  return <span class={`badge ${mos_in >= 4 ? 'good' : mos_in >= 3.5 ? 'warn' : 'bad'}`}>{mos_in.toFixed(1)}</span>;
}
