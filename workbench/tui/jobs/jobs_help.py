"""What the columns and states of the list of jobs mean."""

EXPLAIN = """kind        ask: a model is asked; train: a classifier learns from
            people's labels; classify: a classifier reads answers;
            draft: a model proposes wordings
state       queued: waits for a worker, or for its turn: jobs that
            load a model on this machine run one after another
            ($WORKBENCH_LOCAL_JOBS: so many at once), R begins one now;
            paused (p): all it has is stored, and its worker keeps the
            model for 10 min ($WORKBENCH_HOLD_S), unless another job
            waits; cancelled: stopped on request; lost: its worker is
            gone without a word. All but running and done can be
            resumed (R): only what is missing is done. y asks again
            only what failed; e opens the form as it was filled. A job
            that asks you has a probe that you should see (Enter), or
            not one of its first answers can be read. x hides a job
            that has ended (X lists hidden ones), D deletes one that
            brought nothing
done        answers stored of those planned; steps of those planned (a
            training may end before, when its dev macro F1 no longer
            rises); responses read of those there are
/s          answers, steps or responses a second of this attempt; the
            ETA assumes that rate

ask
cut off     share of this attempt's answers that end within the model's
            thought: there is nothing to read, and more tokens help
unreadable  share of this attempt's answers in which no label was found;
            they count as unreadable, never as a stance. Only where a
            rule reads: free-text answers wait for a classifier
refused     those of them that decline to answer
drawn again of multiple-choice questions: answers that are no letter
            that is offered. They are kept, do not count, and are drawn
            again until there are enough, or no tries are left. How
            many of a round will be letters is not known before: the
            valid ones more than needed count, too
shared      share of prompt tokens that did not go through the model
            again, because prompts begin alike
merged      the same for answers: samples that begin alike are computed
            once
calls       of a served model, with what they cost where prices are set
            ($WORKBENCH_PRICE_IN, _OUT, _MAX_COST). m changes how many
            are under way at once, or how large a batch is

train
loss        mean over the pairs since the last report
dev macro F1   mean F1 over the stances of the held-out training
            responses: it chooses the step that is kept. The test set
            is looked at once, at the end
lr          learning rate at this step

A job ends by itself, and says so, before the disk is full ($WORKBENCH_MIN_FREE_MB).
Leaving the screen or the program does not stop a job; c does."""
