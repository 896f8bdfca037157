/** Voice messages in the person's mailboxes. */
import { useSignal } from '@preact/signals';
import { read, send } from '../../lib/api.ts';
import { duration, moment, named } from '../../lib/format.ts';
import { closeOver, openOver, over } from '../../lib/router.ts';
import { useLive } from '../../lib/use-live.ts';
import type { PageProps } from '../../pages.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import type { Column } from '../../parts/list.tsx';
import { PartyToCall } from '../../parts/number.tsx';
import { Player } from '../../parts/player.tsx';
import { Problem } from '../../parts/problem.tsx';
import { ResourcePage } from '../../parts/resource-page.tsx';
import { words } from '../../words/mine.ts';

/** An item of `GET /user/sip/voicemessages`. */
interface Message {
  readonly id: string;
  readonly mailbox: string;
  readonly number: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly heard: boolean;
  readonly milliseconds: number;
}

const PATH = '/user/sip/voicemessages';
const EVERY_MS = 10_000;

const COLUMNS: readonly Column<Message>[] = [
  {
    title: () => words('from'),
    width: 'minmax(6em, 2fr)',
    cell: ({ name, number }) => <PartyToCall name={name} number={number} inList />,
  },
  { title: () => words('state'), width: '6em', cell: ({ heard }) => <State heard={heard} /> },
  { title: () => words('left'), width: '13em', cell: ({ ts }) => moment(ts), wide: true },
  { title: () => words('mailbox'), width: '6em', cell: ({ mailbox }) => mailbox, wide: true },
  { title: () => words('lasts'), width: '5em', cell: ({ milliseconds }) => duration(milliseconds), number: true },
];

function State({ heard }: { readonly heard: boolean }) {
  return <span class={heard ? 'badge' : 'badge good'}>{words(heard ? 'heard' : 'new')}</span>;
}

export default function VoicemailPage({ query }: PageProps) {
  const live = useLive(() => read<Message[]>(PATH, { order: [{ ts: 'desc' }] }), 'messages', { everyMs: EVERY_MS });
  const close = (): void => {
    closeOver();
    live.reload();
  };
  const shown = live.data?.find((message) => message.id === openOver());
  return (
    <>
      <ResourcePage
        title={words('voicemail')}
        live={live}
        columns={COLUMNS}
        textsOf={({ number, name, mailbox }) => [number, name, mailbox]}
        query={query}
        onOpen={({ id }) => over(id)}
        empty={words('noMessages')}
      />
      {shown !== undefined && <MessageDialog key={shown.id} message={shown} onChange={live.reload} onClose={close} />}
    </>
  );
}

interface MessageDialogProps {
  readonly message: Message;
  readonly onChange: () => void;
  readonly onClose: () => void;
}

/** Playing a message makes it heard, as on a phone. */
function MessageDialog({ message, onChange, onClose }: MessageDialogProps) {
  const { id, mailbox, number, name, ts, heard, milliseconds } = message;
  const path = `${PATH}/${encodeURIComponent(id)}`;
  const playing = useSignal(false);
  const problem = useSignal<unknown>(undefined);
  const run = async (action: Promise<unknown>, after: () => void): Promise<void> => {
    problem.value = undefined;
    try {
      await action;
      after();
    } catch (error) {
      problem.value = error;
    }
  };
  const mark = (value: boolean): void => void run(send('PATCH', path, { heard: value }), onChange);
  return (
    <Dialog title={named(name, number)} onClose={onClose}>
      <Facts
        facts={[
          [words('from'), <PartyToCall name={name} number={number} />],
          [words('left'), moment(ts)],
          [words('lasts'), duration(milliseconds)],
          [words('mailbox'), mailbox],
          [words('state'), <State heard={heard} />],
        ]}
      />
      {playing.value && (
        <div class="recording">
          <Player file={`${path}/file`} name={`${id}.wav`} sides={[named(name, number)]} onPlay={() => mark(true)} />
        </div>
      )}
      <Problem error={problem.value} />
      <div class="buttons">
        {!playing.value && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              playing.value = true;
            }}
          >
            ▶ {words('play')}
          </button>
        )}
        <button type="button" onClick={() => mark(!heard)}>
          {words(heard ? 'markNew' : 'markHeard')}
        </button>
        <button type="button" class="danger" onClick={() => void run(send('DELETE', path), onClose)}>
          {words('remove')}
        </button>
      </div>
    </Dialog>
  );
}
