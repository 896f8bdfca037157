/** The SIP messages of a call as a ladder diagram: a column for each address, an arrow for each message. */
import { useSignal } from '@preact/signals';
import { ApiError, read } from '../lib/api.ts';
import { useLive } from '../lib/use-live.ts';
import { words } from '../words/ladder.ts';
import { Problem } from './problem.tsx';

interface Message {
  /** ISO 8601 with microseconds. */
  readonly time: string;
  readonly callid: string;
  readonly from: string;
  readonly to: string;
  readonly sent: boolean;
  readonly text: string;
}

/** Answer of `GET /uc/calls/ID/ladder`. */
interface LadderView {
  readonly legs: readonly { readonly callid: string; readonly side: string; readonly number: string }[];
  readonly complete: boolean;
  readonly messages: readonly Message[];
}

/** @param id of the call or its dialog */
export function LadderCard({ id }: { readonly id: string }) {
  const open = useSignal(false);
  return (
    <details
      class="card"
      onToggle={({ currentTarget }) => {
        open.value = currentTarget.open;
      }}
    >
      <summary>
        <h2>{words('title')}</h2>
      </summary>
      {open.value && <Ladder id={id} />}
    </details>
  );
}

function Ladder({ id }: { readonly id: string }) {
  const ladder = useLive(() => read<LadderView>(`/uc/calls/${encodeURIComponent(id)}/ladder`), id, {
    events: ['callevents'],
    filter: { inviteid: id },
  });
  const chosen = useSignal<number | undefined>(undefined);
  if (ladder.data === undefined) {
    const isGone = ladder.problem instanceof ApiError && ladder.problem.status === 404;
    return isGone ? <p class="quiet">{words('gone')}</p> : <Problem error={ladder.problem} retry={ladder.reload} />;
  }
  const { messages, legs, complete } = ladder.data;
  const ends = columnsOf(messages);
  const shown = chosen.value === undefined ? undefined : messages[chosen.value];
  const numberOf = new Map(legs.map(({ callid, number }) => [callid, number]));
  return (
    <>
      {!complete && <p class="quiet">{words('incomplete')}</p>}
      <div class="scroll" tabIndex={0} role="group" aria-label={words('title')}>
        <div class="ladder" style={{ '--ends': String(ends.length) }}>
          <div class="ends">
            <span />
            {ends.map((end) => (
              <span key={end} class="end">
                {end === NODE ? words('node') : end}
              </span>
            ))}
          </div>
          <ol>
            {messages.map((message, index) => (
              <li key={index}>
                <Arrow
                  message={message}
                  ends={ends}
                  number={numberOf.get(message.callid) ?? ''}
                  chosen={chosen.value === index}
                  onChoose={() => {
                    chosen.value = chosen.value === index ? undefined : index;
                  }}
                />
              </li>
            ))}
          </ol>
        </div>
      </div>
      {shown !== undefined && <pre class="message">{shown.text}</pre>}
    </>
  );
}

/** The column of this node, whatever its port. */
const NODE = '';

/** The far ends, in the order in which they appear, with the node after the first. */
function columnsOf(messages: readonly Message[]): readonly string[] {
  const [first, ...others] = new Set(messages.map(farEndOf));
  return first === undefined ? [NODE] : [first, NODE, ...others];
}

function farEndOf({ from, to, sent }: Message): string {
  return (sent ? to : from) || '?';
}

interface ArrowProps {
  readonly message: Message;
  readonly ends: readonly string[];
  readonly number: string;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}

function Arrow({ message, ends, number, chosen, onChoose }: ArrowProps) {
  const far = ends.indexOf(farEndOf(message));
  const node = ends.indexOf(NODE);
  const [left, right] = far < node ? [far, node] : [node, far];
  const toRight = message.sent === far > node;
  const firstLine = message.text.split(/\r?\n/, 1)[0] ?? '';
  const short = firstLine.startsWith('SIP/2.0 ') ? firstLine.slice(8) : (firstLine.split(' ', 1)[0] ?? '');
  const kind = /^SIP\/2\.0 [456]/.test(firstLine) ? ' bad' : '';
  return (
    <button type="button" class={`message-row${kind}`} aria-pressed={chosen} onClick={onChoose}>
      <time>{message.time.slice(11, 23)}</time>
      <span class="arrow" style={{ gridColumn: `${left + 2} / ${right + 3}`, '--span': String(right - left + 1) }}>
        <span class="label">
          {short} <span class="quiet">{number}</span>
        </span>
        <span class={toRight ? 'shaft right' : 'shaft left'} />
      </span>
    </button>
  );
}
