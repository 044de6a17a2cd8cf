"""Floor 3, pure: agent output becomes deliveries.

reading      reader, reading; its layers line_reader, code_reader, tag_reader, stray_reader; header, actions;
             code_spans, silence, visible, gap; `directives`: the declaration of each directive
judging      directive_outcome, directive_results, echo; notice: what the agent is told about directives
showing      draft, streaming, secret_filter, typing, tools
saying       plan, reply_shape, operations, prefix, template, redact, budget, speech, usage_line, ending;
             rehearsal
sending      forms: the form of each try; verdict: what follows from a platform's answer
for docs     tables
"""
