# SPDX-License-Identifier: MIT
"""The built program, controlled by a referee that grants turns."""

import socket

from program import NANO, OUT, SAMPLES, Program, measured, names

FLAGS = (
    *(*NANO, "--benchmark_filter=^model_size/nano/fp32/(forward|train_step)/"),
    *("--benchmark_min_time=0.3", OUT, SAMPLES),
)


def test_it_asks_before_each_case_and_its_samples(trainbench: Program) -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(120)
    flags = (*FLAGS, f"--turns={theirs.fileno()}")
    with trainbench.start(*flags, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        questions = []
        with ours, ours.makefile() as asked:
            for question in asked:  # until the program ends
                questions.append(question.rstrip())
                ours.sendall(b"t")
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    rows = names(measured(trainbench.result()))
    assert len(rows) == 2
    assert [question for question in questions if question != "sample"] == [
        f"case {row}" for row in rows
    ]
    turns = [len(line["turn_us"]) for line in trainbench.samples()]
    assert all(count > 1 for count in turns)  # 0.3 s of device time
    assert sum(turns) == questions.count("sample")
