/** The door of this room: what other rooms use of it. */
export { FirstAnswers, type FirstRequests } from './first-answers.ts';
