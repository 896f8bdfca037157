/** One live call: its sides, labels, recordings, operations and SIP messages. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ApiError, read } from '../../lib/api.ts';
import { duration, moment } from '../../lib/format.ts';
import { now } from '../../lib/now.ts';
import { link } from '../../lib/router.ts';
import { nameOf, party, userOf } from '../../lib/uri.ts';
import { useLive } from '../../lib/use-live.ts';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { LadderCard } from '../../parts/ladder.tsx';
import { PartyToCall } from '../../parts/number.tsx';
import { Problem } from '../../parts/problem.tsx';
import { RecordingsCard } from '../../parts/recordings.tsx';
import type { CallScope } from '../../stores/call-scope.ts';
import type { Call } from '../../stores/calls.ts';
import { operationsOfCall } from '../../stores/openapi.ts';
import { words } from '../../words/calls.ts';
import { CallOperations } from './call-operations.tsx';
import { LabelsCard } from './labels-card.tsx';

export interface CallDetailProps {
  readonly id: string;
  readonly scope: CallScope;
}

export function CallDetail({ id, scope }: CallDetailProps) {
  const known = useSignal<Call | undefined>(undefined);
  const live = useLive(() => read<Call>(`${scope.calls}/${encodeURIComponent(id)}`), id, {
    events: ['callevents'],
    filter: { dialogid: id },
  });
  useEffect(() => {
    if (live.data !== undefined) known.value = live.data;
  }, [live.data]);
  const call = live.data ?? known.value;
  const operations = useLive(() => operationsOfCall(scope.calls), scope.calls);
  const ended = live.problem instanceof ApiError && live.problem.status === 404;
  return (
    <div class="page">
      <div class="bar">
        <a href={link([scope.pages.calls])}>← {words('title')}</a>
        <h1>{call === undefined ? id : `${party(call.remoteuri)} → ${party(call.localuri)}`}</h1>
        {call !== undefined && <State call={call} ended={ended} />}
      </div>
      {ended ? (
        <div class="card" role="status">
          <p>
            {words('ended')}{' '}
            <a href={link([scope.pages.history, call?.inviteid ?? ''], { dialog: id })}>{words('inHistory')}</a>
          </p>
        </div>
      ) : (
        <Problem error={live.problem} retry={live.reload} />
      )}
      <Problem error={operations.problem} retry={operations.reload} />
      {/* All at once: buttons that came later would move what is below them. */}
      {call !== undefined && (operations.data !== undefined || operations.problem !== undefined) && (
        <>
          <CallOperations operations={operations.data ?? []} call={call} ended={ended} onDone={live.reload} />
          <div class="cards">
            <Sides call={call} />
            {!ended && !scope.own && <LabelsCard id={id} />}
            {!scope.own && <RecordingsCard filter={{ inviteid: call.inviteid }} />}
          </div>
          {!scope.own && <LadderCard id={call.inviteid} />}
        </>
      )}
    </div>
  );
}

function State({ call, ended }: { readonly call: Call; readonly ended: boolean }) {
  if (ended) return <span class="badge">{words('over')}</span>;
  return (
    <>
      <span class={call.status === 'dialog' ? 'badge good' : 'badge warn'}>{words(call.status)}</span>
      <span class="quiet number">{duration(now.value - call.startts)}</span>
    </>
  );
}

function Sides({ call }: { readonly call: Call }) {
  return (
    <section class="card">
      <h2>{words('call')}</h2>
      <Facts
        facts={[
          [words('since'), moment(call.startts)],
          [words('id'), <code>{call.dialogid}</code>],
          [words('callId'), <code>{call.inviteid}</code>],
          [words('site'), call.site],
          ...call.legs.map(
            ({ side, remoteuri, callid }): Fact => [
              words(side === 'a' ? 'caller' : 'called'),
              <>
                <strong>
                  <PartyToCall name={nameOf(remoteuri)} number={userOf(remoteuri)} />
                </strong>
                <br />
                <span class="quiet">{remoteuri}</span>
                <br />
                <code>{callid}</code>
              </>,
            ],
          ),
        ]}
      />
    </section>
  );
}
