/*
 * The protocol of one partition with one workload: claim, load, observe, settle, decide, intend, act, settle at once, release.
 * Two workers, invoked FIRST_ROUNDS and SECOND_ROUNDS times (a duplicate of the message is a second worker at the same moment), may be paused, killed or left
 * without an answer at every step; a PUT may land late; clocks differ; a person edits the count. The lease is left out on purpose: nothing
 * may depend on it. docs/protocol-model.md explains the bounds and what is not modelled; lib/sync carries the names of the steps.
 *
 * Each LEFT_OUT_… macro takes one rule away; `npm run model` shows that the whole protocol holds and that each rule is needed.
 */
#ifndef FIRST_ROUNDS
#define FIRST_ROUNDS 2               /* invocations of the first worker */
#endif
#ifndef SECOND_ROUNDS
#define SECOND_ROUNDS 1              /* invocations of the second */
#endif
#ifndef EDITS
#define EDITS 1                      /* edits of the count by a person */
#endif
#define EPOCHS (FIRST_ROUNDS + SECOND_ROUNDS + 1)      /* epochs count from 1; each stores at most one intent */

/* Times, in ticks. LIFE: longest life of an invocation. SERVER: how long the API server may still execute a PUT. DIFF: largest difference of two clocks. */
#define LIFE 1
#define SERVER 1
#ifndef DIFF
#define DIFF 1
#endif
#define WINDOW 3                     /* the rate limit: one scale per WINDOW */
#ifndef END
#define END 9                        /* time stops here */
#endif

#ifdef LEFT_OUT_CLOCK_DIFFERENCE
#define MARGIN 0
#else
#define MARGIN DIFF
#endif
#define DEADLINE(decided) (decided + LIFE + SERVER + MARGIN)
#ifdef LEFT_OUT_DEADLINE
#define PAST(deadline) true
#else
#define PAST(deadline) (nowMs > deadline)
#endif
#ifdef LEFT_OUT_EPOCH_OF_INTEND
#define HOLDER true
#else
#define HOLDER (epoch == mine && writes == seenWrites)
#endif

mtype = { none, applied, refused, unknown };            /* outcome of an event */
mtype = { idle, flying, done, conflict, gone };         /* a PUT on its way */
mtype = { noToken, claiming, intending, releasing };    /* what the last write of the head was */

byte now = 0;
byte skew[2];

/* The cluster. */
byte count = 1, generation = 1, version = 1;
mtype put[EPOCHS] = idle;
byte putVersion[EPOCHS], putCount[EPOCHS], putEnds[EPOCHS];

/* The table: the head with its one possible intent, the page, the history. */
byte epoch = 0, writes = 0, headNow = 0;
byte tokenEpoch = 0; mtype token = noToken;
bool open = false;
byte intentEpoch, intentCount, intentGeneration, intentVersion, intentDeadline;
byte pageLast = 0, pageEpoch = 0, pageVersion = 0;      /* pageLast: when the last counted scale was, plus one; 0 = never */
mtype event[EPOCHS] = none;

/* The truth, which no worker sees. */
byte effects[EPOCHS];
byte lastEffect = 0; bool anyEffect = false;

#define CLOCK (now + skew[me])
#define ALIVE (now <= started + LIFE)
#define LATEST(a, b) (((a) > (b)) -> (a) : (b))

/* The platform ends an invocation that outlives LIFE; a crash may end any at any step. */
#ifdef LEFT_OUT_END_OF_STALLED
#define step  if :: true :: goto dead fi
#define MAY_SEND true
#else
#define step  if :: ALIVE :: goto dead fi
#define MAY_SEND ALIVE
#endif

#ifdef LEFT_OUT_OWN_TOKEN
#define DONE(kind) (tokenEpoch == mine)
#else
#define DONE(kind) (tokenEpoch == mine && token == kind)
#endif

#ifdef LEFT_OUT_INTENT_EPOCH
#define EVENT_ID(e) mine             /* the epoch of whoever settles */
#else
#define EVENT_ID(e) e
#endif

#ifdef NO_GENERATION                 /* a kind without metadata.generation */
#define MOVED(generationThen, versionThen) (seenVersion != versionThen)
#else
#define MOVED(generationThen, versionThen) (seenGeneration != generationThen)
#endif

/* What must hold whenever a PUT takes effect: a stored intent that every later holder counts, once, and never two inside one window. */
inline takeEffect(e) {
  assert((open && intentEpoch == e) || event[e] == applied || event[e] == unknown);
  assert(!anyEffect || now + DIFF >= lastEffect + WINDOW);
  assert(effects[e] == 0);
  effects[e]++; lastEffect = now; anyEffect = true;
  count = putCount[e]; generation++; version++
}

/* The API server executes the PUT of one intent under the version it carries, until putEnds; or it never does. */
proctype Server(byte e) {
end:
  do
  :: atomic { put[e] == flying && now <= putEnds[e] && putVersion[e] == version -> takeEffect(e); put[e] = done }
  :: atomic { put[e] == flying && now <= putEnds[e] && putVersion[e] != version -> put[e] = conflict }
  :: atomic { put[e] == flying && now > putEnds[e] -> put[e] = gone }
  od
}

proctype Person() {
  byte left = EDITS;
end:
  do
  :: atomic { left > 0 -> left--; count++; generation++; version++ }
  :: atomic { left > 0 -> left--; version++ }       /* status, labels: the version alone moves */
  od
}

proctype Time() {
end:
  do
  :: atomic { now < END -> now++ }
  od
}

/* One insert: a duplicate changes nothing, and the stored outcome is the one that counts. */
inline insertEvent(e) {
  assert(outcome != refused || effects[e] == 0);
  if
  :: event[EVENT_ID(e)] == none -> event[EVENT_ID(e)] = outcome
  :: else -> outcome = event[EVENT_ID(e)]
  fi
}

inline writePage(at) {
  if
  :: pageVersion == seenPage && pageEpoch <= mine -> pageVersion++; pageEpoch = mine; pageLast = at + 1
  :: else -> goto dead
  fi
}

inline release(clears) {
  if
  :: epoch == mine && writes == seenWrites ->
     writes++; token = releasing; tokenEpoch = mine; headNow = LATEST(headNow, nowMs);
     if
     :: clears && open ->
        assert(event[intentEpoch] != none);
        assert(effects[intentEpoch] == 0 || event[intentEpoch] != refused);
        assert(event[intentEpoch] == refused || pageLast > 0);
        open = false; intentEpoch = 0; intentCount = 0; intentGeneration = 0; intentVersion = 0; intentDeadline = 0
     :: else
     fi
  :: else
  fi
}

proctype Worker(byte me; byte rounds) {
  byte started, mine, seenWrites, nowMs, seenVersion, seenGeneration, seenCount, seenPage, last, wanted, tries;
  byte oldEpoch, oldCount, oldGeneration, oldVersion, oldDeadline, deadline;
  bool old, unclear;
  mtype outcome;
next:
  atomic {
    /* Nothing survives an invocation. */
    started = 0; mine = 0; seenWrites = 0; nowMs = 0; seenVersion = 0; seenGeneration = 0; seenCount = 0; seenPage = 0; last = 0; wanted = 0; tries = 0;
    oldEpoch = 0; oldCount = 0; oldGeneration = 0; oldVersion = 0; oldDeadline = 0; deadline = 0; old = false; unclear = false; outcome = none;
    if
    :: rounds > 0 -> rounds--
    :: else -> goto finished
    fi
  };

  /* claim: raise the epoch, get the head with its open intent. nowMs is the latest of the own clock and the head's. */
  atomic {
    started = now; epoch++; mine = epoch; writes++; seenWrites = writes; token = claiming; tokenEpoch = mine;
    old = open;
    if
    :: old -> oldEpoch = intentEpoch; oldCount = intentCount; oldGeneration = intentGeneration; oldVersion = intentVersion; oldDeadline = intentDeadline
    :: else
    fi;
    nowMs = LATEST(CLOCK, headNow)
  };

  /* load: the page, strongly. */
  atomic { step; seenPage = pageVersion; last = pageLast; if :: last > 0 -> nowMs = LATEST(nowMs, last - 1) :: else fi };

  /* observe. */
  atomic { step; seenVersion = version; seenGeneration = generation; seenCount = count };
#ifdef LEFT_OUT_NOW_BEFORE_OBSERVATION
  atomic { step; nowMs = LATEST(nowMs, CLOCK) };
#endif

  if
  :: old && PAST(oldDeadline) ->
     /* settle what an earlier holder left open: the workload holds in this sync. */
     if
     :: !MOVED(oldGeneration, oldVersion) -> outcome = refused
     :: MOVED(oldGeneration, oldVersion) && seenCount == oldCount -> outcome = applied
     :: else -> outcome = unknown
     fi;
     atomic { step; insertEvent(oldEpoch) };
     if
     :: outcome == refused
     :: else -> atomic { step; writePage(nowMs) }
     fi;
     atomic { step; release(true) };
     goto next
  :: old && !PAST(oldDeadline) ->
     atomic { step; release(false) };               /* open: hold */
     goto next
  :: else
  fi;

  /* decide: one more, unless the window says no. */
  if
  :: last == 0 || nowMs >= last - 1 + WINDOW -> wanted = seenCount + 1
  :: else -> atomic { step; release(false) }; goto next
  fi;

  /* intend: one update of the head, before any PUT. After an unclear answer, and only then, look for the own token. */
  deadline = DEADLINE(nowMs);
intend:
  unclear = false;
  atomic { step;
    if
    :: HOLDER ->
       assert(!open);
       open = true; intentEpoch = mine; intentCount = wanted; intentGeneration = seenGeneration; intentVersion = seenVersion; intentDeadline = deadline;
       writes++; token = intending; tokenEpoch = mine; headNow = LATEST(headNow, nowMs);
       if :: true :: unclear = true fi               /* the answer may be lost */
    :: HOLDER -> unclear = true                     /* or the request */
    :: !HOLDER -> goto next                            /* fenced off */
    fi };
  if
  :: unclear -> atomic { step;
       if
       :: DONE(intending) -> seenWrites = writes
       :: else -> if :: epoch == mine -> goto intend :: else -> goto next fi
       fi }
  :: else -> seenWrites++
  fi;

  /* act: each PUT under the checks; after a conflict look again and write the same count, under the same intent. */
  tries = 0; unclear = false;
act:
  atomic { step;
    if
    :: CLOCK + SERVER + MARGIN <= deadline
    :: else -> atomic { release(false) }; goto next
    fi };
  if
  :: atomic { MAY_SEND -> put[mine] = flying; putVersion[mine] = seenVersion; putCount[mine] = wanted; putEnds[mine] = now + SERVER; tries++ }
  :: !MAY_SEND -> goto dead
  fi;
  if
  :: put[mine] == done -> outcome = applied
  :: put[mine] == done || put[mine] == gone -> unclear = true      /* the answer was lost */
  :: put[mine] == flying -> unclear = true                         /* timed out: it may still land */
  :: put[mine] == conflict -> outcome = refused
  fi;
#ifdef LEFT_OUT_NEVER_REPEATS
  if
  :: unclear && put[mine] != flying && tries < 2 -> unclear = false; goto act
  :: else
  fi;
#endif
  if
  :: unclear -> atomic { step; release(false) }; goto next          /* stays open, settled by a later holder */
  :: !unclear && outcome == refused && tries < 2 -> atomic { step; seenVersion = version }; goto act
  :: else
  fi;

  /* settle at once; the event counts from a clock reading after the answer. */
#ifndef LEFT_OUT_TIME_AFTER_ANSWER
  nowMs = LATEST(nowMs, CLOCK);
#endif
  atomic { step; insertEvent(mine) };
  if
  :: outcome == refused
  :: else -> atomic { step; writePage(nowMs) }
  fi;

  /* release: clear the intent, name the page. */
  atomic { step; release(true) };
  goto next;
dead:
  goto next;
finished:
  skip
}

init {
  atomic {
    byte e = 1;
    if :: skew[0] = DIFF :: skew[1] = DIFF :: true fi;   /* equal clocks, or either ahead of the other */
    do
    :: e < EPOCHS -> run Server(e); e++
    :: else -> break
    od;
    run Time(); run Person(); run Worker(0, FIRST_ROUNDS); run Worker(1, SECOND_ROUNDS)
  }
}
