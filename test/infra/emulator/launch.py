"""Starts the emulator. Ten things of it are changed, because a deployment of this stack needs them.

It refuses a template in which cfn-lint finds anything at all, warnings that osls cannot avoid included; `npm run prove -- infra` looks at the template instead. And it does not know function URLs and
groups of schedules in a template, though outputs and roles name them. The outputs of a stack stay those of its first template, which for osls
has a bucket alone. The managed policies of a removed stack stay. It restores no table of another region. Its
tables have no ids. It shows a parameter that is a list as Python writes it. It reads no INSERT of PartiQL with
places for values.
And it forgets a resource that it cannot change, such as a group of logs.
"""

import re
from uuid import uuid4

import moto.cloudformation.models as stacks
import moto.cloudformation.parsing as templates
from moto.awslambda.models import lambda_backends
from moto.core.common_models import CloudFormationModel
from moto.dynamodb.exceptions import ConditionalCheckFailed
from moto.dynamodb.models import DynamoDBBackend, RestoredPITTable, dynamodb_backends
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler
from moto.iam.models import ManagedPolicy
from moto.scheduler.models import scheduler_backends
from moto.server import main


class FunctionUrl(CloudFormationModel):
    # The emulator files a model under the service that its module names.
    __module__ = "moto.awslambda.urls_of_templates"

    def __init__(self, function, config):
        self.function = function
        self.config = config

    @staticmethod
    def cloudformation_name_type():
        return ""

    @staticmethod
    def cloudformation_type():
        return "AWS::Lambda::Url"

    @property
    def physical_resource_id(self):
        return self.function.function_arn

    @classmethod
    def has_cfn_attr(cls, attr):
        return attr in ("FunctionUrl", "FunctionArn")

    def get_cfn_attribute(self, attribute_name):
        return self.config.url + "/" if attribute_name == "FunctionUrl" else self.function.function_arn

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        properties = cloudformation_json["Properties"]
        backend = lambda_backends[account_id][region_name]
        config = backend.create_function_url_config(properties["TargetFunctionArn"], properties)
        return cls(config.function, config)

    @classmethod
    def update_from_cloudformation_json(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name):
        return None


class ScheduleGroup(CloudFormationModel):
    __module__ = "moto.scheduler.groups_of_templates"

    def __init__(self, group):
        self.group = group

    @staticmethod
    def cloudformation_name_type():
        return "Name"

    @staticmethod
    def cloudformation_type():
        return "AWS::Scheduler::ScheduleGroup"

    @property
    def physical_resource_id(self):
        return self.group.name

    @classmethod
    def has_cfn_attr(cls, attr):
        return attr == "Arn"

    def get_cfn_attribute(self, attribute_name):
        return self.group.arn

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        return cls(scheduler_backends[account_id][region_name].create_schedule_group(name=resource_name, tags=[]))

    @classmethod
    def update_from_cloudformation_json(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name):
        scheduler_backends[account_id][region_name].delete_schedule_group(resource_name)


def outputs_of_now(stack):
    stack._parse_template()
    stack.output_map = stack._create_output_map()
    return outputs_once(stack)


def restored_by_arn(handler):
    arn = handler.body.get("SourceTableArn")
    if arn is not None:
        handler.body["SourceTableName"] = arn
    return restored_by_name(handler)


def restored_from_region(backend, target_table_name, source_table_name):
    if not source_table_name.startswith("arn:"):
        return restored_here(backend, target_table_name, source_table_name)
    region, name = source_table_name.split(":")[3], source_table_name.split("/")[1]
    source = dynamodb_backends[backend.account_id][region].get_table(name)
    table = RestoredPITTable(target_table_name, account_id=backend.account_id, region=backend.region_name, source=source)
    backend.tables[target_table_name] = table
    return table


def described_with_id(table, base_key="TableDescription"):
    description = described_without(table, base_key)
    table.id_of_emulator = getattr(table, "id_of_emulator", None) or str(uuid4())
    description[base_key]["TableId"] = table.id_of_emulator
    return description


INSERT = re.compile(r"""^INSERT INTO "([^"]+)" VALUE \{(.+)\}$""")


def inserted(backend, statement):
    parts = INSERT.match(statement["Statement"])
    if parts is None:
        return executed_once(backend, [statement])[0]
    table, members = parts.groups()
    names = [member.split(":")[0].strip().strip("'") for member in members.split(",")]
    item = dict(zip(names, statement["Parameters"]))
    try:
        backend.put_item(table, item, condition_expression="attribute_not_exists(pk)")
        return {"TableName": table}
    except ConditionalCheckFailed:
        return {"TableName": table, "Error": {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}}


def executed_with_inserts(backend, statements):
    return [inserted(backend, statement) for statement in statements]


def parameters_as_sent(stack):
    shown = parameters_once(stack)
    resolved = stack.resource_map.resolved_parameters
    lists = {key: ",".join(value) for key, value in resolved.items() if isinstance(value, list)}
    return [{**each, "ParameterValue": lists.get(each["ParameterKey"], each["ParameterValue"])} for each in shown]


def changed_or_kept(logical_id, resource_json, resources_map, **where):
    changed = changed_once(logical_id, resource_json, resources_map, **where)
    return resources_map[logical_id] if changed is None else changed


changed_once = templates.parse_and_update_resource
templates.parse_and_update_resource = changed_or_kept
described_without = Table.describe
Table.describe = described_with_id
restored_by_name = DynamoHandler.restore_table_to_point_in_time
restored_here = DynamoDBBackend.restore_table_to_point_in_time
DynamoHandler.restore_table_to_point_in_time = restored_by_arn
DynamoDBBackend.restore_table_to_point_in_time = restored_from_region
executed_once = DynamoDBBackend.batch_execute_statement
DynamoDBBackend.batch_execute_statement = executed_with_inserts
outputs_once = stacks.Stack.outputs.fget
stacks.Stack.outputs = property(outputs_of_now)
parameters_once = stacks.Stack.parameter_list.fget
stacks.Stack.parameter_list = property(parameters_as_sent)
ManagedPolicy.delete = lambda policy, account_id, region_name: policy.backend.delete_policy(policy.arn)
stacks.validate_template_cfn_lint = lambda template: []
main()
