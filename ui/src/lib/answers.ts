// What the answers of a replay are in all, in sentences.
import type { ReplayAnswers } from '../api/types';
import { clock, count, duration, percent } from './format';

/** The facts beside the table: each with its name. */
export function answerFacts(answers: ReplayAnswers): [string, string][] {
  const all = answers.sent + answers.unreached;
  const facts: [string, string][] = [['Succeeded, or failed as recorded', `${percent(answers.succeeded / Math.max(1, all), 2)} of ${count(all)} statements`]];
  if (answers.unreached > 0) facts.push(['Not sent', `${count(answers.unreached)}: a statement before them in their transaction failed`]);
  if (answers.found_nothing > 0) facts.push(['Found no row', `${count(answers.found_nothing)} statements, where the recording found some: the data may be older, or rows were deleted since`]);
  if (answers.duplicates > 0) facts.push(['Row exists', `${count(answers.duplicates)} statements failed because a row with the same key exists: the data may be newer`]);
  if (answers.compared > 0) facts.push(['Answers that differ', `${count(answers.differing)} of ${count(answers.compared)}`]);
  if (answers.first) facts.push(['The first, in the recording', `${clock(answers.first.at_s)}, ${answers.first.title}: ${answers.first.text}`]);
  if (answers.unstable > 0) facts.push(['Compared by numbers of rows or errors only', count(answers.unstable)]);
  if (answers.without_answer > 0) facts.push(['Without a recorded answer', count(answers.without_answer)]);
  if (answers.made.recorded > 0) facts.push(['Values that the server made', `${count(answers.made.recorded)} recorded, ${count(answers.made.replaced)} replaced, ${count(answers.made.missing)} not made here`]);
  if (answers.order.waits > 0) facts.push(['Waits for other sessions', `${count(answers.order.waits)}, ${duration(answers.order.waited_s)} in all${answers.order.in_vain > 0 ? `, ${count(answers.order.in_vain)} ended early, because the transaction waited for this one, in the replay or for its locks` : ''}${answers.order.timed_out > 0 ? `, ${count(answers.order.timed_out)} ended after the longest wait` : ''}`]);
  return facts;
}
